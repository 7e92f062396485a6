// What is shown at which zoom: below `FAR` tasks are blocks, below `MID` they have a title, above it everything.
export const FAR = 0.38;
export const MID = 0.8;
export const SMALLEST = 0.03;
export const LARGEST = 2;
/** Over so many tasks only the edges that matter are drawn. */
export const MANY = 300;
/** In a narrow pane, a plan of few tasks is shown in part and readable instead of whole. */
export const NARROW = 600;
export const FEW = 60;
export const READABLE = 0.55;
