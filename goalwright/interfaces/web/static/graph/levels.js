// Levels of detail: below the zoom `FAR` tasks are blocks, below `MID` they have titles, above it all details.
export const FAR = 0.38;
export const MID = 0.8;
export const SMALLEST = 0.03;
export const LARGEST = 2;
/** Above this number of tasks only important edges are drawn. */
export const MANY = 300;
/** In a narrow pane, a small plan is shown in part, so that it stays readable. */
export const NARROW = 600;
export const FEW = 60;
export const READABLE = 0.55;
