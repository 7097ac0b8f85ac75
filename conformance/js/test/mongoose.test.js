// Mongoose, as applications use it: models, rules, references, middleware,
// transactions, lifetimes, change streams.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import mongoose from "mongoose";
import { lack, startMongo } from "../mayfly.js";

const { Schema } = mongoose;
const patient = { timeout: 60_000 };

let connection;
before(async () => {
  connection = await mongoose.createConnection(process.env.TESTED_MONGO_URI, { dbName: `mongoose-${process.pid}` }).asPromise();
});
after(async () => {
  await connection?.dropDatabase();
  await connection?.close();
});

test("models, validation, timestamps, versions", patient, async () => {
  const User = connection.model("User", new Schema({
    name: { type: String, required: true, trim: true, minlength: 2 },
    email: { type: String, unique: true, lowercase: true, match: /@/ },
    age: { type: Number, min: 0, index: true },
    roles: { type: [String], enum: ["admin", "user"], default: ["user"] },
    settings: { type: Map, of: String },
    balance: Schema.Types.Decimal128,
    visits: BigInt,
    key: Schema.Types.UUID,
    friends: [{ name: String, since: Date }],
  }, { timestamps: true, optimisticConcurrency: true }));
  await User.init();
  await assert.rejects(User.create({ name: "x", email: "nobody", age: -1 }), (error) => {
    assert.deepEqual(Object.keys(error.errors).sort(), ["age", "email", "name"]);
    return true;
  });
  const ann = await User.create({
    name: " Ann ", email: "ANN@example.com", age: 30, settings: { theme: "dark" }, balance: "12.50", visits: 9007199254740993n,
    key: "6f9619ff-8b86-4011-b42d-00c04fc964ff", friends: [{ name: "bob", since: new Date(0) }],
  });
  assert.equal(ann.name, "Ann");
  const read = await User.findOne({ email: "ann@example.com" });
  assert.deepEqual([read.settings.get("theme"), read.balance.toString(), read.visits, read.key.toString(), read.roles[0]],
    ["dark", "12.50", 9007199254740993n, "6f9619ff-8b86-4011-b42d-00c04fc964ff", "user"]);
  assert.ok(read.createdAt instanceof Date);
  await assert.rejects(User.create({ name: "Other", email: "ann@example.com" }), (error) => {
    assert.deepEqual([error.code, error.keyPattern, error.keyValue], [11000, { email: 1 }, { email: "ann@example.com" }]);
    return true;
  });

  const stale = await User.findById(ann._id);
  read.friends.push({ name: "eve" });
  read.friends[0].name = "rob";
  await read.save();
  stale.age = 31;
  await assert.rejects(stale.save(), { name: "VersionError" });
  const fresh = await User.findOne({ "friends.name": "rob" }).select("name friends.name").lean();
  assert.deepEqual(fresh.friends.map((f) => f.name), ["rob", "eve"]);
  assert.ok(!(fresh instanceof mongoose.Document));
  assert.equal(await User.countDocuments({ age: { $gte: 30 } }), 1);
  assert.ok(await User.exists({ name: /^ann$/i }));
  const indexes = await User.collection.indexes();
  assert.deepEqual(indexes.map((x) => x.name), ["_id_", "email_1", "age_1"]);
  assert.deepEqual((await User.diffIndexes()).toCreate, []);
});

test("references and populate", patient, async () => {
  const Author = connection.model("Author", new Schema({ name: String }));
  const Book = connection.model("Book", new Schema({
    title: String, year: Number, author: { type: Schema.Types.ObjectId, ref: "Author" }, reviews: [{ by: { type: Schema.Types.ObjectId, ref: "Author" }, stars: Number }],
  }));
  Author.schema.virtual("books", { ref: "Book", localField: "_id", foreignField: "author" });
  const [le, tolstoy] = await Author.insertMany([{ name: "Le Guin" }, { name: "Tolstoy" }]);
  await Book.insertMany([
    { title: "The Dispossessed", year: 1974, author: le, reviews: [{ by: tolstoy, stars: 5 }] },
    { title: "War and Peace", year: 1869, author: tolstoy, reviews: [{ by: le, stars: 4 }, { by: tolstoy, stars: 5 }] },
    { title: "The Lathe of Heaven", year: 1971, author: le },
  ]);
  const books = await Book.find().sort({ year: 1 }).populate("author", "name -_id").populate({ path: "reviews.by", match: { name: "Le Guin" } });
  assert.deepEqual(books.map((b) => b.author.name), ["Tolstoy", "Le Guin", "Le Guin"]);
  assert.deepEqual(books[0].reviews.map((r) => r.by?.name), ["Le Guin", undefined]);
  const authors = await Author.find().sort("name").populate({ path: "books", options: { sort: { year: -1 } } });
  assert.deepEqual(authors.map((a) => a.books.map((b) => b.year)), [[1974, 1971], [1869]]);
  const stars = await Book.aggregate([
    { $unwind: "$reviews" },
    { $lookup: { from: "authors", localField: "author", foreignField: "_id", as: "author" } },
    { $group: { _id: { $first: "$author.name" }, stars: { $avg: "$reviews.stars" } } },
  ]).sort({ _id: 1 });
  assert.deepEqual(stars, [{ _id: "Le Guin", stars: 5 }, { _id: "Tolstoy", stars: 4.5 }]);
});

test("middleware, statics, virtuals", patient, async () => {
  const seen = [];
  const schema = new Schema({ first: String, last: String, hits: { type: Number, default: 0 } });
  schema.pre("save", function () { seen.push(`save ${this.isNew}`); });
  schema.post("save", (d) => seen.push(`saved ${d.first}`));
  schema.pre(/^find/, function () { seen.push(this.op); });
  schema.pre("updateOne", function () { this.set({ last: "changed" }); });
  schema.pre("aggregate", function () { this.pipeline().unshift({ $match: { first: "a" } }); });
  schema.virtual("full").get(function () { return `${this.first} ${this.last}`; });
  schema.statics.byFirst = function (first) { return this.findOne({ first }); };
  const Person = connection.model("Person", schema);
  await new Person({ first: "a", last: "b" }).save();
  await Person.create({ first: "z" });
  await Person.updateOne({ first: "a" }, { $inc: { hits: 1 } });
  const a = await Person.byFirst("a");
  assert.deepEqual([a.full, a.hits], ["a changed", 1]);
  assert.equal((await Person.aggregate([{ $count: "n" }]))[0].n, 1);
  const changed = await Person.findOneAndUpdate({ first: "new" }, { $setOnInsert: { last: "x" } }, { upsert: true, returnDocument: "after" });
  assert.deepEqual([changed.last, changed.hits], ["x", 0]);
  assert.deepEqual(seen, ["save true", "saved a", "save true", "saved z", "findOne", "findOneAndUpdate"]);
});

test("discriminators and bulk", patient, async () => {
  const Event = connection.model("Event", new Schema({ at: Date }, { discriminatorKey: "kind" }));
  const Click = Event.discriminator("Click", new Schema({ url: String }));
  const Sale = Event.discriminator("Sale", new Schema({ sum: Number }));
  await Click.create({ at: new Date(1), url: "/" });
  await Sale.insertMany([{ at: new Date(2), sum: 5 }, { at: new Date(3), sum: 6 }]);
  assert.equal(await Event.countDocuments(), 3);
  assert.deepEqual((await Sale.find().sort("at")).map((s) => s.sum), [5, 6]);
  assert.ok((await Event.findOne({ kind: "Click" })) instanceof Click);
  const written = await Sale.bulkWrite([
    { updateMany: { filter: {}, update: { $mul: { sum: 2 } } } },
    { insertOne: { document: { sum: 1 } } },
    { deleteOne: { filter: { sum: 12 } } },
  ]);
  assert.deepEqual([written.modifiedCount, written.insertedCount, written.deletedCount], [2, 1, 1]);
  let n = 0;
  for await (const event of Event.find().cursor({ batchSize: 1 })) n += event.kind ? 1 : 0;
  assert.equal(n, 3);
});

test("transactions", patient, async () => {
  const Account = connection.model("Account", new Schema({ name: String, balance: Number }));
  await Account.init();
  const [a, b] = await Account.create([{ name: "a", balance: 10 }, { name: "b", balance: 0 }]);
  await connection.transaction(async (session) => {
    a.balance -= 4;
    await a.save({ session });
    await Account.updateOne({ _id: b._id }, { $inc: { balance: 4 } }, { session });
    assert.equal((await Account.findById(b._id)).balance, 0);
  });
  await assert.rejects(connection.transaction(async (session) => {
    await Account.create([{ name: "c", balance: 1 }], { session });
    throw new Error("no");
  }), /no/);
  assert.deepEqual((await Account.find().sort("name")).map((x) => x.balance), [6, 4]);
});

test("change streams", { ...patient, skip: lack("change streams") }, async () => {
  const Note = connection.model("Note", new Schema({ text: String }));
  await Note.createCollection();
  const stream = Note.watch([], { hydrate: true, fullDocument: "updateLookup", maxAwaitTimeMS: 100 });
  const events = [];
  const told = (n) => new Promise((done) => stream.on("change", () => events.length >= n && done()));
  stream.on("change", (event) => events.push(event));
  const [two, three] = [told(2), told(3)];
  await new Promise((done) => stream.once("resumeTokenChanged", done));
  const note = await Note.create({ text: "a" });
  await Note.updateOne({ _id: note._id }, { text: "b" });
  await two;
  await note.deleteOne();
  await three;
  await stream.close();
  assert.deepEqual(events.map((e) => e.operationType), ["insert", "update", "delete"]);
  assert.ok(events[1].fullDocument instanceof Note);
  assert.equal(events[1].fullDocument.text, "b");
});

test("a lifetime by expires", { ...patient, skip: lack("virtual clock") }, async () => {
  const mayfly = await startMongo("--memory", "--clock=virtual=2031-02-03T04:05:06Z");
  const own = await mongoose.createConnection(mayfly.uri("t")).asPromise();
  try {
    const Token = own.model("Token", new Schema({ value: String, at: { type: Date, expires: "1m" } }));
    const Stamped = own.model("Stamped", new Schema({ value: String, ttl: Number }).index({ _ts: 1 }, { expireAfterSeconds: 10 }));
    await Promise.all([Token.init(), Stamped.init()]);
    assert.equal((await Token.collection.indexes())[1].expireAfterSeconds, 60);
    await Token.create([{ value: "a", at: new Date("2031-02-03T04:05:06Z") }, { value: "b", at: new Date("2031-02-03T04:05:16Z") }, { value: "c" }]);
    await Stamped.create([{ value: "a" }, { value: "b", ttl: 20 }, { value: "c", ttl: 20.5 }, { value: "d", ttl: -1 }]);
    let second = 0;
    for (const [at, tokens, stamped] of [[9, "abc", "abcd"], [10, "abc", "bd"], [20, "abc", "d"], [59, "abc", "d"], [60, "bc", "d"], [70, "c", "d"]]) {
      await mayfly.advance(at - second);
      second = at;
      const values = async (model) => (await model.find().sort("value")).map((d) => d.value).join("");
      assert.deepEqual([await values(Token), await values(Stamped)], [tokens, stamped], `second ${at}`);
    }
  } finally {
    await own.close();
    await mayfly.stop();
  }
});
