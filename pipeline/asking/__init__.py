"""Asking: how any question of any track is asked once, ever (docs/routes.md).

::

    routes, track -> adapters -> an adapter: openai, command, replay, or a policy of a stage
    filling -> runner -> line -> adapter -> outcomes, vocabulary     a reply, and what it comes to
      |                   |-> budget, waits                          before and after every try
      |                   `-> journal -> ledger -> store             on the disk before the next
      `-> sealing -> artifacts/execute/<slug>.parquet, attempts/<slug>.parquet
    secrets, spellings    cut out of all that is kept or shown
    check, overview, board, tally    before a run, beside it, at its end

>>> from pipeline.asking.vocabulary import finish_outcome
>>> [finish_outcome(word).value for word in ("stop", "MAX_TOKENS", "a new word")]
['ok', 'truncated', 'unknown_finish']

$ flavourbench routes
"""
