// Slots of ten years by another implementation: it walks through time in steps of 15 minutes, reads the clock of the zone with
// the Unicode library of Node.js, and knows nothing of offsets. One line of output for each zone and rule: instants in minutes.
const begin = Date.UTC(2017, 0, 1) / 60000, end = Date.UTC(2027, 0, 1) / 60000, step = 15;
const rules = {
  "30 2 * * *": (c) => c.minute === 30 && c.hour === 2,
  "*/30 * * * *": (c) => c.minute % 30 === 0,
  "0 8 * * 1-5": (c) => c.minute === 0 && c.hour === 8 && c.weekday >= 1 && c.weekday <= 5,
  "15 0,1,3 L * *": (c) => c.minute === 15 && [0, 1, 3].includes(c.hour) && c.last,
  "0 0 * * 0#2": (c) => c.minute === 0 && c.hour === 0 && c.weekday === 0 && c.day > 7 && c.day <= 14,
};
const clock = (wall) => {
  const at = new Date(wall * 60000);
  return {
    minute: at.getUTCMinutes(), hour: at.getUTCHours(), day: at.getUTCDate(), weekday: at.getUTCDay(),
    last: new Date(wall * 60000 + 86400000).getUTCDate() === 1,
  };
};
for (const zone of process.argv.slice(2)) {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit",
  });
  const found = Object.fromEntries(Object.keys(rules).map((rule) => [rule, []]));
  let newest;
  for (let at = begin; at <= end; at += step) {
    const [, day, month, year, hour, minute] = /(\d+)\/(\d+)\/(\d+), (\d+):(\d+)/.exec(format.format(at * 60000)).map(Number);
    const wall = Date.UTC(year, month - 1, day, hour, minute) / 60000;
    newest ??= wall - step;
    // Every time of day that the clock shows for the first time, and those that it left out just now.
    for (let passed = newest + step; passed <= wall; passed += step) {
      const shown = clock(passed);
      for (const [rule, fits] of Object.entries(rules)) if (fits(shown) && found[rule].at(-1) !== at) found[rule].push(at);
    }
    newest = Math.max(newest, wall);
  }
  for (const [rule, slots] of Object.entries(found)) console.log(`${zone}\t${rule}\t${slots.join(" ")}`);
}
