"""Published data in, training data out, and answers from elsewhere scored.

::

    in     a download -> importing -> hub, dataset, tasksets -> folder (whole or not at all)
    check  last run -> layout -> agreement -> reproduce          figure by figure
    own    template -> answers -> own -> own_view                coverage, then a score
    train  export -> formats; reward, batch                      rows, and rewards for trainers

$ flavourbench reward --task a1c30c71 "FINAL_SELECTION: C, E, F"
"""
