"""What a finished or running job tells people: documents of the record, laid out as text."""

from bandstand.report.curves import report_document, report_text
from bandstand.report.listing import listing_text
from bandstand.report.page import Page, plain
from bandstand.report.training import training_text
from bandstand.report.tuning import tuning_text
from bandstand.report.what_if import what_if_text

__all__ = [
    "Page",
    "listing_text",
    "plain",
    "report_document",
    "report_text",
    "training_text",
    "tuning_text",
    "what_if_text",
]
