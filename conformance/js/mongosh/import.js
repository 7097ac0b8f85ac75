// Inserts the lines of canonical Extended JSON that export.js has written.
const fs = require("fs");
const documents = fs.readFileSync(process.env.TESTED_EXPORT, "utf8").split("\n").map((line) => EJSON.parse(line, { relaxed: false }));
for (let i = 0; i < documents.length; i += 1000) db.target.insertMany(documents.slice(i, i + 1000));
print(`imported ${documents.length}`);
