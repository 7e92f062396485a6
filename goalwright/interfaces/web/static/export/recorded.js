// A run embedded in an exported page: its final state and all its events.
import { Playback } from "../run/playback.js";
import { fromDocument } from "../run/fold.js";

/** The steps whose names differ from their model's role. */
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

  /** The run as a playback from its start. */
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
