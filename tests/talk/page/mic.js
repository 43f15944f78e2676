// The microphone in frames of 20 ms, s16 mono.
class Mic extends AudioWorkletProcessor {
  constructor() {
    super();
    this.frame = new Int16Array(Math.round(sampleRate / 50));
    this.n = 0;
  }

  process([input]) {
    for (const v of input[0] ?? []) {
      this.frame[this.n++] = Math.max(-32768, Math.min(32767, Math.round(v * 32768)));
      if (this.n < this.frame.length) continue;
      const full = this.frame;
      this.frame = new Int16Array(full.length);
      this.n = 0;
      this.port.postMessage(full.buffer, [full.buffer]);
    }
    return true;
  }
}
registerProcessor('mic', Mic);
