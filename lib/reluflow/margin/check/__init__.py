"""An exact checker of certificates of optimality, which trusts none of those who made them."""

from reluflow.margin.check.verdict import Checked, check

__all__ = ["Checked", "check"]
