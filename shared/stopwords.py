"""Words that say nothing about a topic, English and Portuguese, question words included (pure).

They are left out of a query when something else remains, never out of the index: a phrase may need them. Written with
their accents; `STOP_WORDS` holds them as the analyzer folds them.
"""

from __future__ import annotations

import unicodedata

_ENGLISH = """
a an the of to in on at by for from with without into onto over under and or not nor but if then else than that this
these those it its is are was were be been being do does did done doing has have had having can could should would may
might must will shall how what which who whom whose where when why there here their they them he she his her you your
we our us i me my as so such about between after before during while both each any all some only also just very more
most other same own via per up out off again
"""

_PORTUGUESE = """
o a os as um uma uns umas de do da dos das em no na nos nas num numa por pelo pela pelos pelas para pra com sem sob
sobre entre até após ante e ou mas nem se que quem qual quais quando onde como porque porquê quanto quanta quantos
quantas ao à aos às é são ser sido sendo foi foram era eram está estão estar estava este esta esse essa isso isto
aquele aquela aquilo estes estas esses essas seu sua seus suas ele ela eles elas lhe lhes me te nos vos há ter tem têm
tinha havia houve já não mais menos muito muita muitos muitas também pode podem deve devem pois cada outro outra outros
outras mesmo mesma quê qualquer
"""


def _without_accents(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


STOP_WORDS = frozenset(_without_accents(word) for word in (_ENGLISH + _PORTUGUESE).split())
