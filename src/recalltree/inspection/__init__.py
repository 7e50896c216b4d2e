"""Looking inside a model: what it holds, why it answers, how well it does."""

from recalltree.inspection.classes import class_counts, find_class
from recalltree.inspection.drawing import tree_text
from recalltree.inspection.evaluation import Evaluation
from recalltree.inspection.explainer import explain
from recalltree.inspection.explanation import Explanation
from recalltree.inspection.list_evaluation import ListEvaluation
from recalltree.inspection.nodes import NodeTable, node_table
from recalltree.inspection.report import html_report, report_page
from recalltree.inspection.statistics import summary
from recalltree.inspection.word_names import word_names

__all__ = [
    "Evaluation",
    "Explanation",
    "ListEvaluation",
    "NodeTable",
    "class_counts",
    "explain",
    "find_class",
    "html_report",
    "node_table",
    "report_page",
    "summary",
    "tree_text",
    "word_names",
]
