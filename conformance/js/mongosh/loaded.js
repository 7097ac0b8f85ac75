db.loaded.insertOne({ by: "load()" });
