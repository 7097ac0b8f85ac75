// Writes a collection as lines of canonical Extended JSON.
const fs = require("fs");
const exact = { promoteValues: false, promoteLongs: false, promoteBuffers: false, bsonRegExp: true };
const lines = db.source.find({}, {}, exact).sort({ _id: 1 }).toArray().map((d) => EJSON.stringify(d, { relaxed: false }));
fs.writeFileSync(process.env.TESTED_EXPORT, lines.join("\n"));
print(`exported ${lines.length}`);
