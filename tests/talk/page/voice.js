// One other person's sound, played as it comes: a little is held back first, so that what comes unevenly plays evenly.
const BEGIN = 0.06; // seconds that wait before it begins
const MOST = 2; // beyond that the oldest is dropped
class Voice extends AudioWorkletProcessor {
  constructor() {
    super();
    this.parts = [];
    this.at = 0; // in parts[0]
    this.waiting = 0;
    this.playing = false;
    this.last = 0;
    this.port.onmessage = ({ data }) => {
      const part = new Int16Array(data);
      this.parts.push(part);
      this.waiting += part.length;
      this.last = currentTime;
      while (this.waiting > MOST * sampleRate) {
        this.waiting -= this.parts.shift().length - this.at;
        this.at = 0;
      }
    };
  }

  process(_, [[out]]) {
    // A short word that is over is less than what is waited for.
    if (!this.playing && this.waiting && (this.waiting >= BEGIN * sampleRate || currentTime - this.last > BEGIN))
      this.playing = true;
    for (let i = 0; i < out.length && this.playing; i++) {
      const part = this.parts[0];
      if (!part) {
        this.playing = false;
        break;
      }
      out[i] = part[this.at++] / 32768;
      this.waiting--;
      if (this.at === part.length) {
        this.parts.shift();
        this.at = 0;
      }
    }
    return true;
  }
}
registerProcessor('voice', Voice);
