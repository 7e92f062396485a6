// A run that came with the page: its state as it ended, and all its events, so that nothing has to be asked for.
import { Playback } from "../run/playback.js";
import { fromDocument } from "../run/fold.js";

/** The steps that are not called like the role of their model. */
const ROLES = /** @type {Record<string, string>} */ ({ "(plan)": "decomposer", "(replan)": "replanner" });

export class Recorded extends Playback {
  /** @param {{ document: Record<string, any>, rows: Record<string, any>[], images: Record<string, string> }} run */
  constructor({ document, rows, images }) {
    super(document.run_id, rows);
    this.document = document;
    this.images = images;
    this.state = fromDocument(document);
    this.index = rows.length;
    this.at.value = this.end;
  }

  /** The same run to be played back, from its beginning. */
  again() {
    const playback = new Recorded({ document: this.document, rows: this.rows, images: this.images });
    playback.seek(0);
    playback.playing.value = true;
    return playback;
  }

  /** The events of a step. @param {string} step */
  rowsOf(step) {
    const role = ROLES[step] ?? /^\((\w+)\)$/.exec(step)?.[1];
    return this.rows.filter((row) => (role ? !row.task && row.role === role : row.task === step));
  }
}
