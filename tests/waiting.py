"""Which cases of a test wait for `make audit`, because others of the same test run in `make test`.

Every ninth case of the tests below runs in `make test`, all of them in `make audit`; an odd number, so that where cases
come in pairs, such as the two relations, both kinds run. They are the tests that took a second or more of the processor
together, where a case more is another question, size, page or language. What stands for privacy is not among them:
losses against laws, sensitivities by brute force, planted errors, leaks, faults. Of those only single
cases wait that take seconds each, and so do journeys and long lists of what shorter tests show (SLOW).
"""

from __future__ import annotations

EVERY = 9
THINNED: dict[str, tuple[str, ...]] = {
    "engine/accountant/test_filter_raised.py": ("test_no_chooser_gets_past_a_cap_that_is_raised_along_the_way",),
    "engine/asking/test_looks.py": ("test_what_the_ledger_holds_is_enough",),
    "engine/asking/test_plan.py": ("test_redistribution_uses_what_is_left_and_keeps_locks_and_the_part_to_keep",),
    "engine/asking/test_session_analyst.py": ("test_an_adaptive_analyst_gets_answers_within_alpha",),
    "engine/audit/test_columns.py": ("test_it_says_what_every_pair_of_one_row_tables_says",),
    "engine/audit/test_one_row.py": ("test_one_row_says_what_all_tables_say",),
    "engine/declared/test_usual_spellings.py": ("test_a_table_is_sound",),
    "engine/intake/test_coding_expressions.py": ("test_odd_cells_are_coded_as_from_a_file",),
    "engine/intake/test_misfits.py": ("test_the_range_keeps_its_promise",),
    "engine/intake/test_records.py": (
        "test_a_line_too_long_is_damaged_to_its_end",
        "test_any_line_leaves_the_others_alone",
        "test_line_ends",
        "test_the_other_lines_in_every_encoding",
    ),
    "engine/mechanisms/test_cdf_tree.py": (
        "test_sums_of_nodes_are_what_lies_at_or_below",
        "test_the_band_of_a_deep_tree_holds_all_at_once",
        "test_the_tree_keeps_its_band_also_when_averaged",
    ),
    "engine/mechanisms/test_check_model.py": (
        "test_ranges_hold_the_truth",
        "test_the_baseline_stands_beside_the_score_and_keeps_its_chance",
    ),
    "engine/mechanisms/test_cuts.py": ("test_what_is_cut_is_told",),
    "engine/mechanisms/test_density.py": ("test_the_band_holds_the_whole_curve",),
    "engine/mechanisms/test_find_declarations.py": ("test_lists_keep_their_claim_on_small_tables",),
    "engine/mechanisms/test_find_lists_by_laplace.py": ("test_exact_epsilon_and_delta_on_small_tables",),
    "engine/mechanisms/test_floors.py": ("test_rows_of_every_kind",),
    "engine/mechanisms/test_gaussian_numbers.py": ("test_its_ranges_hold_the_truth",),
    "engine/mechanisms/test_item_bars.py": ("test_the_same_numbers_come_from_a_file",),
    "engine/mechanisms/test_joint_cuts.py": ("test_several_keep_their_promise_at_once_and_their_ranges_hold",),
    "engine/mechanisms/test_percentiles_by_group.py": ("test_all_of_all_groups_hold_at_once",),
    "engine/mechanisms/test_promise_kept.py": ("test_a_promise_bought_at_its_least_price_is_kept",),
    "engine/mechanisms/test_promise_words.py": ("test_a_wish_is_read_in_the_unit_it_is_written_in",),
    "engine/mechanisms/test_publish_sets.py": ("test_what_is_read_off_sets_and_rows_holds_the_truth",),
    "engine/mechanisms/test_residuals.py": ("test_the_loss_is_the_worst_of_every_pair_of_rows",),
    "engine/mechanisms/test_shuffle.py": ("test_bars_and_what_a_zero_may_hide",),
    "engine/mechanisms/test_synthetic.py": ("test_the_promise_is_kept",),
    "engine/mechanisms/test_synthetic_table.py": ("test_every_measured_range_covers",),
    "engine/mechanisms/test_answer_state.py": (
        "test_a_large_spend_on_a_large_table_tells",
        "test_a_median_too_few_can_tell_is_not_shown",
        "test_a_small_spend_on_a_small_table_says_nothing",
    ),
    "engine/mechanisms/test_training.py": ("test_the_engine_computes_what_the_reference_means",),
    "engine/mechanisms/test_tree_cuts.py": ("test_least_squares_promises_narrower_ranges_than_sums_of_nodes",),
    "engine/mechanisms/test_vector_mean.py": ("test_all_ranges_hold_at_once",),
    "engine/noise/test_coins_noise.py": ("test_gaussian_noise_follows_the_law",),
    "engine/planning/test_cheapest.py": ("test_it_costs_no_more_and_promises_no_less",),
    "engine/planning/test_whatif.py": (
        "test_curves_pass_through_the_setting_and_fall",
        "test_every_question_that_promises_anything_says_how_many_people_or_why_not",
        "test_the_allowance_is_the_least_that_bears_the_questions",
        "test_the_people_are_the_fewest_that_keep_the_wish",
        "test_the_promise_is_that_of_the_most_each_may_take",
        "test_the_questions_are_as_many_as_fit_and_no_more",
    ),
    "engine/population/test_rounding.py": ("test_all_that_is_told_is_a_function_of_the_cell",),
    "engine/population/test_validity.py": (
        "test_an_adaptive_analyst_stays_within_the_widths",
        "test_planned_noise_is_as_good_as_a_grid_of_noises",
    ),
    "engine/released/test_look.py": ("test_every_stated_range_covers",),
    "engine/released/test_look_answers.py": ("test_every_range_holds_the_truth",),
    "engine/released/test_look_ranges.py": ("test_ranges_hold_all_at_once_and_each_by_itself",),
    "engine/test_workspace.py": ("test_no_value_makes_a_release_fail",),
    "pages/test_addresses.py": ("test_any_address_gives_a_page",),
    "pages/test_audit_page.py": (
        "test_as_built_no_more_is_lost_than_claimed_and_a_twin_loses_more",
        "test_cells_hide_nothing_of_the_exact_loss",
        "test_draws_follow_the_law_of_the_picture_twins_too",
        "test_every_kind_of_picture_stands",
    ),
    "pages/test_clinic_on_a_phone.py": (
        "test_another_measure_keeps_the_sentence_in_view_and_says_which_column_it_is_about",
    ),
    "pages/test_counted.py": (
        "test_every_answer_says_what_is_cut",
        "test_it_is_said_before_anything_is_spent",
    ),
    "pages/test_declare_lines.py": ("test_to_open_a_guess_does_not_settle_it",),
    "pages/test_declare_page.py": (
        "test_a_bad_list_is_refused_at_its_card",
        "test_a_bad_range_is_refused_at_its_card",
        "test_faults_of_form_are_told_with_the_names",
    ),
    "pages/test_exactly.py": (
        "test_a_spend_that_cannot_be_leaves_everything_where_it_was",
        "test_an_accepted_error_means_what_it_says",
    ),
    "pages/test_languages.py": ("test_no_page_has_words_of_its_own",),
    "pages/test_lesson_linkage.py": ("test_patients_are_found_again_as_a_slow_search_finds_them",),
    "pages/test_lessons.py": (
        "test_a_link_brings_a_lesson_back",
        "test_every_setting_at_its_ends_has_a_picture_and_words",
    ),
    "pages/test_lessons_more.py": (
        "test_the_bells_say_their_figures",
        "test_the_die_keeps_its_two_promises",
        "test_the_die_says_its_figures",
    ),
    "pages/test_owner.py": ("test_acts_that_cannot_be_are_found",),
    "pages/test_picked.py": ("test_what_is_picked_stays_picked",),
    "pages/test_places.py": ("test_an_address_opens_the_same_thing_cold",),
    "pages/test_publish_page.py": (
        "test_bad_input_gets_one_sentence_and_spends_nothing",
        "test_what_can_never_be_published_is_said_at_once",
    ),
    "pages/test_read_by_a_nurse.py": (
        "test_the_first_answer_that_contradicts_the_number_leads_to_its_field",
        "test_what_is_tapped_is_what_is_asked",
    ),
    "pages/test_several_page.py": ("test_what_if_is_drawn_for_several_averages",),
    "pages/test_sketch.py": ("test_plotly_accepts_what_pages_hand_over_unchecked",),
    "pages/test_train_page.py": ("test_bad_input_gets_one_sentence_and_spends_nothing",),
    "pages/test_trust_page.py": ("test_what_cannot_be_done_is_a_sentence",),
    "pages/test_whatif_page.py": ("test_it_says_how_many_people_a_model_a_table_a_session_or_a_curve_takes",),
    "pages/test_workshop.py": (
        "test_every_question_at_its_ends_has_a_picture_and_words",
        "test_what_is_called_true_is_true_of_the_file",
    ),
    "test_contract.py": (
        "test_a_choice_keeps_its_promise",
        "test_a_person_with_several_rows_is_one_person",
        "test_bad_epsilon_is_one_clear_sentence",
        "test_bad_parameters_are_one_clear_sentence",
        "test_intervals_cover_the_truth",
        "test_least_epsilon_is_the_least",
        "test_nobody_can_promise_better_than_the_floor",
        "test_parameters_round_trip",
        "test_quantile_keeps_rank_promise_and_range_covers",
        "test_samples_follow_the_law",
        "test_the_shape_of_answers_is_public",
        "test_what_rounding_takes_is_in_the_range",
    ),
}

SLOW = (
    "test_law_keeps_the_claimed_loss[0.1-median: by group with a range, jointly-replace]",
    "test_law_keeps_the_claimed_loss[0.1-quantile: two by group, jointly-replace]",
    "test_all_of_all_groups_hold_at_once[joint-replace]",
    # that they hold often enough is tested beside it
    "test_ranges_from_a_tree_hold_about_as_often_as_is_promised",
    # the same with a few: values, lines of a list, charges, rows
    "test_five_thousand_values",
    "test_a_long_public_list_from_a_file_stays_on_the_server",
    "test_a_long_ledger_comes_in_pages",
    "test_forty_thousand_rows",
    # journeys whose way another one takes
    "test_a_cold_deep_link_shows_the_meter",
    "test_a_question_from_its_link_to_its_answer[by-group-mean]",
    "test_on_a_phone_nothing_scrolls_sideways",
    "test_the_answer_comes_into_view_and_a_second_click_on_the_spot_pays_nothing",
    "test_two_bars_are_compared_copied_and_taken_away",
    "test_two_tabs_with_one_question_pay_once",
)


def waits(file: str, test: str, place: int, case: str) -> bool:
    """Does this case wait? `place` counts the cases of its test."""
    return case in SLOW or (test in THINNED.get(file, ()) and place % EVERY != 0)
