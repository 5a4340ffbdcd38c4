"""Evidence ranking: what tells that a passage answers a question, as named parts on one absolute scale (pure).

Each kind of evidence is a share of the best possible, 0..1, so that scores of different questions mean alike and the
vector can be added with a fixed weight. `score` adds them up; the other modules say how one kind is measured.
"""
