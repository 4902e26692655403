"""Release: brings an Epicure release in, checked (docs/bundle.md).

::

    starter -> bundle.py's shape   vectors learned from the starter's dishes
    bundle, hub                    three files; embeddings of the Hub beside a bundle's tags
    documents -> published, dataset    task sets and data sets that state their own hashes
    one of these -> stage -> artifacts/release

$ flavourbench release info
"""
