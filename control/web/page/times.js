// Times as people read them, in the time zone of the browser; and numbers with what they count.

// "1 turn", "2 turns".
export const counted = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

const form = (options) => new Intl.DateTimeFormat("en-GB", options);
const clocks = form({ hour: "2-digit", minute: "2-digit", second: "2-digit" }), minutes = form({ hour: "2-digit", minute: "2-digit" });
const days = form({ weekday: "short", day: "numeric", month: "short" }), dates = form({ day: "numeric", month: "short" });
const daysOfYears = form({ weekday: "short", day: "numeric", month: "short", year: "numeric" });
const two = (n) => String(n).padStart(2, "0");

export const clock = (t) => clocks.format(new Date(t));
export const minute = (t) => minutes.format(new Date(t));

// "Fri 27 Nov", with the year if it is another one.
export function day(t) {
  const d = new Date(t);

  return (d.getFullYear() === new Date().getFullYear() ? days : daysOfYears).format(d).replace(",", "");
}

// For a column: the time of today, the day and the minute of any other day.
export function moment(t) {
  const d = new Date(t);

  return d.getTime() >= new Date().setHours(0, 0, 0, 0) ? clocks.format(d) : `${dates.format(d)} ${minutes.format(d)}`;
}

// For a sentence: with the day if it is not today.
export const told = (t) => (new Date(t).getTime() >= new Date().setHours(0, 0, 0, 0) ? clock(t) : `${day(t)}, ${clock(t)}`);

// For a table: all of it.
export function when(t) {
  const d = new Date(t);

  return t ? `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${clocks.format(d)}` : "–";
}
