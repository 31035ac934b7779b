"""Lee, Sim & Ye 2022, Support Vectors and Gradient Dynamics of Single-Neuron ReLU Networks."""

from reluflow.papers.lee2022support.activity import (
    protected,
    survey_norms,
    survey_protection,
)
from reluflow.papers.lee2022support.examples import (
    Experiment,
    Limit,
    agrees_as_printed,
    experiment,
    first_iteration,
    path_distance,
)
from reluflow.papers.lee2022support.landscape import (
    assumptions,
    excess_in_cell,
    meets_cell,
    nested_pairs,
    survey_nesting,
    survey_virtual_minima,
)
from reluflow.papers.lee2022support.small_starts import (
    NORMS,
    largest_norm_drop,
    nontrivial_direction,
    preactivation_polynomial,
    reactivations,
    smallest_force,
    survey_small_starts,
    unit_of_norm,
)

__all__ = [
    "NORMS",
    "Experiment",
    "Limit",
    "agrees_as_printed",
    "assumptions",
    "excess_in_cell",
    "experiment",
    "first_iteration",
    "largest_norm_drop",
    "meets_cell",
    "nested_pairs",
    "nontrivial_direction",
    "path_distance",
    "preactivation_polynomial",
    "protected",
    "reactivations",
    "smallest_force",
    "survey_nesting",
    "survey_norms",
    "survey_protection",
    "survey_small_starts",
    "survey_virtual_minima",
    "unit_of_norm",
]
