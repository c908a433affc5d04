// Tells the keystrokes of a handheld scanner from those of a person. A scanner is a keyboard: what it reads
// is typed into the page, and ends in Enter, in Tab or in nothing.
//
// Pace separates the two. Scanners type a key each 1 to 60 ms, evenly. People who enter amounts all day take
// 120 ms and more; the fastest average 70 ms, but a roll over two or three keys takes them 20 to 40 ms. So
// the fewer keys there are, and the more likely a person is typing just then, the faster they must be to
// count as a scan. A scan taken for typing would record a sale, and typing taken for a scan only shows that
// no customer was found: at 60 ms a key, a complete entry is a scan.
//
// States: a key more than `apart` after the one before begins a new run. Characters extend the run. Enter,
// Tab, another key or silence ends it; then the longest part of its end that has a scanner's pace is the
// scan (a person may have typed right before), and everything before is left as typed. After a scan, more
// Enters and Tabs belong to it for a moment: some scanners send two.
(() => {
  "use strict";

  const apart = 160; // ms between two keys that don't belong together
  const alone = 300; // ms without a key before a run that no typing precedes
  const silence = 160; // ms after which a run has ended by itself
  const deaf = 300; // ms after a scan in which Enter and Tab do nothing
  const uneven = 80; // ms: no pause of a scanner is longer

  // How fast a run must be to be a scan: [this many characters or more, ms a key on average].
  const paces = {
    // Ended by Enter or Tab, which counts as a key.
    ended: { alone: [[1, 20], [2, 40], [3, 50], [4, 62]], typing: [[2, 15], [4, 40], [8, 62]] },
    // Ended by silence or another key.
    open: { alone: [[3, 15], [4, 30], [6, 62]], typing: [[4, 15], [6, 40], [8, 62]] },
  };
  // What no amount has, at any pace that isn't clearly a person's: [digits, ms a key, the longest pause].
  const noAmount = [[13, apart, apart], [8, 75, 100]];

  const fits = (gaps, pace, longest) =>
    gaps.every((gap) => gap <= longest) && gaps.reduce((sum, gap) => sum + gap, 0) <= pace * gaps.length;

  // paced reports whether a text typed with these gaps has a scanner's pace. lead is the time before the
  // first character, last the time between the last and the Enter or Tab; null for any other end.
  function paced(text, gaps, lead, last) {
    const hurry = /\p{Nd}/u.test(text) ? 1 : .5; // words are typed faster than numbers
    const within = (kind, all) => {
      const rows = paces[kind][lead >= alone ? "alone" : "typing"];
      const row = rows.findLast(([least]) => text.length >= least);
      return row !== undefined && fits(all, row[1] * hurry, uneven);
    };
    return within("open", gaps) || last !== null && within("ended", [...gaps, last]);
  }

  // find returns where the scan in a run begins, or -1. A run has its text, the times of its characters, and
  // the time of the key before it. end is the time of the Enter or Tab, or null. forAmount says that the
  // run was typed where digits are an amount.
  function find({ text, times, before }, end, forAmount) {
    const gaps = times.map((at, i) => at - (i > 0 ? times[i - 1] : before));
    const last = end === null ? null : end - times.at(-1);
    for (let i = 0; i < gaps.length; i++) {
      if (!paced(text.slice(i), gaps.slice(i + 1), gaps[i], last)) continue;
      // A scanner without a cable may pause once: what has its pace before the pause is of the same scan.
      const earlier = i > 0 ? find({ text: text.slice(0, i), times: times.slice(0, i), before }, null, false) : -1;
      return earlier < 0 ? i : earlier;
    }
    if (!forAmount || !/^\p{Nd}+$/u.test(text)) return -1;
    for (const [digits, pace, longest] of noAmount) {
      for (let i = 0; i <= gaps.length - digits; i++) {
        if (fits(gaps.slice(i + 1), pace, longest)) return i;
      }
    }
    return -1;
  }

  // Handheld follows a page's keystrokes. snapshot returns a function that takes back what is typed after it
  // was called, and is called before each character has an effect. scanned gets the text of a scan, typed
  // is called when a run ended that was none.
  class Handheld {
    constructor({ snapshot, isAmount, scanned, typed }) {
      Object.assign(this, { snapshot, isAmount, scanned, typed });
      this.last = -Infinity; // when the last key was pressed
      this.deafUntil = -Infinity;
      this.clear();
    }

    clear() {
      clearTimeout(this.timer);
      this.run = null;
    }

    // inside reports whether the next character, typed at that time, continues what no person types: then it
    // must not act as a shortcut.
    inside(at) {
      return this.run !== null && (at - this.last <= uneven || at - this.last <= apart && /\D/.test(this.run.text));
    }

    // goesOn reports whether the last two characters came so fast that they may be within a scan.
    goesOn() {
      const times = this.run === null || this.run.ended ? [] : this.run.times;
      return times.length > 1 && times.at(-1) - times.at(-2) <= uneven;
    }

    // key takes a keydown event, and returns true if it belongs to a scan and must have no effect of its own.
    key(event) {
      const { timeStamp: at, repeat, ctrlKey, metaKey, altKey, target } = event;
      let { key } = event;
      if (["Shift", "CapsLock", "Control", "Alt", "AltGraph", "Meta"].includes(key)) return false;
      if ((ctrlKey || metaKey) && !altKey) { // scanners send control characters so: Ctrl+J is a line feed
        if (!this.goesOn() || at - this.last > uneven) return false;
        if (!/^[jm]$/i.test(key)) return true;
        key = "Enter";
      }
      const ends = key === "Enter" || key === "Tab";
      if (key === "Dead") key = "\u00b4"; // of a scanner with another keyboard layout
      if (repeat) this.clear(); // a person holds a key down
      else if (key.length === 1) {
        if (altKey && !ctrlKey) return false;
        this.character(key, at, target);
        return false;
      }
      const scan = this.run !== null && !this.run.ended && at - this.last <= alone && this.end(ends ? at : null, at);
      this.clear();
      this.last = at;
      return scan || ends && at <= this.deafUntil;
    }

    character(char, at, target) {
      if (this.run === null || at - this.last > apart) {
        this.run = { text: "", times: [], undos: [], before: this.last, amount: this.isAmount(target) };
      }
      const { run } = this;
      run.text += char;
      run.times.push(at);
      run.undos.push(this.snapshot(target));
      run.ended = false;
      this.last = at;
      clearTimeout(this.timer);
      // The second timer lets keystrokes come first that the page was too busy for.
      this.timer = setTimeout(() => {
        this.timer = setTimeout(() => {
          if (!this.end(null, at + silence)) this.typed();
        });
      }, silence);
    }

    // end ends the run at that time, and returns true if there was a scan. The run is kept: if the page was
    // too busy, silence ended it, and the rest of the scan still comes.
    end(end, at) {
      const { run } = this;
      run.ended = true;
      const start = find(run, end, run.amount);
      if (start < 0) return false;
      this.deafUntil = at + deaf;
      run.undos[start]();
      this.scanned(run.text.slice(start));
      return true;
    }
  }

  window.handheld = { Handheld, find };
})();
