"""What is attacked: each subject with the modules whose properties are tried."""

from collections.abc import Mapping

SUBJECTS: Mapping[str, tuple[str, ...]] = {
    "networks": (
        "properties.test_equation_laws",
        "properties.test_causality_laws",
        "properties.test_energy_laws",
        "properties.test_loop_laws",
        "properties.test_output_laws",
        "properties.test_sensor_laws",
        "simulation.test_random_networks",
    ),
    "notations": ("properties.test_notations", "properties.test_pog_laws", "properties.test_vector_bonds"),
    "limits": (
        "reduction.test_limits_of_random_networks",
        "reduction.test_scheme_operations",
        "reduction.test_pictures",
        "reduction.test_laws_that_read_what_is_gone",
    ),
    "forms": (
        "equations.test_hamiltonian",
        "equations.test_steps",
        "equations.test_state_dependent_moduli",
        "conditioning.test_random_networks",
        "conditioning.test_random_chains",
    ),
    "translations": (
        "fuzz.attacks.translations",
        "schemes.test_networks",
        "schemes.test_bond_graph",
        "schemes.test_pog",
        "notations.test_writing",
    ),
    "nonlinear laws": (
        "fuzz.attacks.nonlinear_laws",
        "compiler.test_models",
        "experiments.test_linear_models_are_tangents",
        "notations.network.test_laws",
    ),
    "switching inputs": ("simulation.test_switching_inputs", "properties.test_mode_laws"),
    "fields": (
        "properties.test_field_laws",
        "reduction.test_fields_at_limits",
        "notations.network.test_fields_of_stiffness_and_laws",
    ),
    "hostile files": (
        "fuzz.attacks.hostile_files",
        "notations.yaml.test_hidden_characters",
        "notations.yaml.test_document",
        "notations.yaml.test_document_edits",
    ),
    "mutated models": ("fuzz.attacks.mutated_models", "experiments.test_given_values", "properties.test_start_laws"),
}
"""The time is shared evenly among subjects, and within each among its properties."""
