"""The defaults of every parameter: the one place where they are written.

Loss, learning rate, candidates, depth and λ are the paper's ("Default Performance Methodology").
"""

LOSS = "logistic"
LEARNING_RATE = 1.0
L2 = 0.0

N_PASSES = 1
SHUFFLE = True
EARLY_STOPPING = False
VALIDATION_FRACTION = 0.1

BOUND_LAMBDA = 1.0
PATH_FEATURES = "none"
PATH_INTERACTIONS = False
ROUTER_WEIGHTING = "total_entropy"
ROUTING_ORDER = "route_first"
MIN_GRADIENT = 0.1

SWAP_RESISTANCE = 4.0

KEYS = "auto"
MAX_LABELS = 512
MAX_ENTRIES = 1024
SUBLINEAR_TF = True
USE_IDF = True
NORMALIZE = True
CENTER = True
N_TREES = 4
FEATURE_DROPOUT = 0.0
