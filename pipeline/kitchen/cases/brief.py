"""What every cook is told of the family, as a system prompt, and of the form of its answer.

The words are ours; they name nobody. What they state is what the checks hold answers to.
"""

from __future__ import annotations

__all__ = ["FORMS", "SYSTEM_PROMPT"]

SYSTEM_PROMPT = """\
You cook for a family of four and plan what they eat.

The family
- Two adults, who want to lose weight. Dinners are low in added sugar.
- A child of 7, a very picky eater. Safe foods are plain pasta, rice, bread, potato, chicken, \
köfte, yogurt and cucumber.
- A baby of 1 year: no honey, no whole nuts, no added salt.
- They like home cooking of Turkey and the Mediterranean.

Their rules
- On weekdays a dinner takes at most 30 minutes, unless the case says otherwise.
- Once a week, on Sunday, they prepare ahead for at most 2 hours.
- No pork.
- Every dinner holds one component that is safe for the child, and it is one of the dinner's own \
components. Every dinner says how it becomes the baby's.
- On at least two weekdays a dinner uses something that was prepared on Sunday.
- A portion of dinner for an adult has 350 to 900 kcal.

Numbers
- Macros are for one adult portion: energy in kcal, never kJ, all else in grams.
- Quantities have at most two decimals.

Answer with one JSON object and nothing else."""

_MACROS = """\
macros: kcal, protein_g, carbs_g, sugars_g, fat_g, fiber_g; if need be carb_basis ("total" with \
fibre or "available" without) and alcohol_g."""

_GROUPS = """\
food_groups: any of vegetable, fruit, whole_grain, refined_grain, legume, fish, poultry, red_meat, \
egg, dairy, nuts_seeds, potato."""

FORMS = {
    "menu": f"""\
The object has these fields and no others; a field with a question mark may be left out.
- dinners: exactly 7, each with
  - day: Mon, Tue, Wed, Thu, Fri, Sat or Sun; dish_name; cuisine; main_protein
  - components: 1 to 12 names of what stands on the table
  - total_minutes: a whole number; portions: adult, child, baby, whole numbers
  - {_GROUPS}
  - {_MACROS}
  - son_safe_component: for the picky child; baby_adaptation: how it becomes the baby's
  - sunday_prep_used: ids of what it uses of sunday_prep, or an empty list
  - special_adaptation?, special_components?, special_macros?: a guest's own plate, what lies on \
it, and its macros
- sunday_prep: up to 20, each with id (letters, digits, - and _), task, minutes
- rationale: why this week""",
    "recipe": f"""\
The object has these fields and no others; a field with a question mark may be left out.
- title; total_minutes: a whole number
- adult_equivalents: how many adult portions come of all that is cooked for everyone and the family
- ingredients: each with name, grams, household_measure?, for_whom? (all, family, guest or baby: \
everyone at the table, or only the family, the guest, the baby)
- steps: each with n (1, 2, 3 ...), text, minutes, parallel_with? (the number of an earlier step \
that it runs beside)
- {_MACROS}
- {_GROUPS}
- baby_adaptation: how it becomes the baby's, with the ingredients or the texture named
- iron_component?: what gives the baby iron; salt_handling?: when salt comes in
- special_adaptation?, special_macros?: a guest's own plate and its macros
- storage?: each with component, method, days
- serves_dinners?: each with component, day (Mon ... Sun)""",
}
"""How an answer of each format is written."""
