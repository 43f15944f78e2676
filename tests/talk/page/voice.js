// Plays one other member's audio through a short playout buffer, which absorbs jitter.
const BEGIN = 0.06; // seconds in the buffer before playback begins
const MOST = 2; // seconds beyond which the oldest audio is dropped
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
    // A short utterance that has ended may be shorter than the buffer.
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
