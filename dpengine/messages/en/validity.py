"""Sentences: how far answers may lie from the population, and the demonstration of fooling oneself."""

SENTENCES: dict[str, str] = {
    "validity.people": "The number of people must be a whole number from 1 to {most}.",
    "validity.answers": "The number of questions must be a whole number from 1 to {most}.",
    "validity.steps": "The grid of a row's value must have a whole number of steps from 1 to {most}.",
    "validity.beta": "The chance of a miss must lie between 0 and 1; a usual choice is 0.05.",
    "validity.noise": "The noise must be Laplace or Gaussian, and more than none.",
    "validity.width": "The wished width must be above 0 and below 1; a usual choice is 0.1.",
    "validity.no_room": "The allowance has no room for {answers} answers; ask fewer, or with a larger allowance.",
    "validity.split_wins": "For {answers} questions to {people} people, giving each question its own people is narrower: within {split} of the population, against {private} with private answers. Private answers win beyond about {crossing} questions.",
    "validity.private_wins": "For {answers} questions to {people} people, private answers are narrower: within {private} of the population, against {split} when each question gets its own people. Splitting wins up to about {crossing} questions.",
}
