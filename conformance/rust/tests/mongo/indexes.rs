//! Indexes, collections and what lists them.

use std::time::Duration;

use mongodb::IndexModel;
use mongodb::bson::{Document, doc};
use mongodb::options::IndexOptions;

use super::{all, filled, refused, stand_alone};

fn index(keys: Document, options: IndexOptions) -> IndexModel {
    IndexModel::builder().keys(keys).options(options).build()
}

#[tokio::test]
async fn make_list_use_drop() {
    let (_server, db) = stand_alone().await;
    let c = filled(
        &db,
        (0..100).map(|i| doc! {"_id": i, "email": format!("{i}@example.com"), "n": i % 10, "place": {"type": "Point", "coordinates": [i, 0]}}),
    )
    .await;
    let unique = || IndexOptions::builder().unique(true).build();
    let made = c
        .create_indexes([
            index(doc! {"email": 1}, unique()),
            index(doc! {"n": 1, "_id": -1}, IndexOptions::default()),
            index(doc! {"absent": 1}, IndexOptions::builder().sparse(true).build()),
            index(doc! {"n": -1}, IndexOptions::builder().name("some".to_string()).partial_filter_expression(doc! {"n": {"$gt": 5}}).build()),
            index(doc! {"born": 1}, IndexOptions::builder().expire_after(Duration::from_secs(3600)).build()),
        ])
        .await
        .expect("create indexes");
    assert_eq!(made.index_names, ["email_1", "n_1__id_-1", "absent_1", "some", "born_1"]);
    let listed = all(c.list_indexes().await).await;
    let options = |name: &str| listed.iter().find_map(|i| i.options.clone().filter(|o| o.name.as_deref() == Some(name))).expect(name);
    assert_eq!(listed.len(), 6);
    assert_eq!(options("email_1").unique, Some(true));
    assert_eq!(options("absent_1").sparse, Some(true));
    assert_eq!(options("some").partial_filter_expression, Some(doc! {"n": {"$gt": 5}}));
    assert_eq!(options("born_1").expire_after, Some(Duration::from_secs(3600)));

    refused("a unique value again", 11000, c.insert_one(doc! {"email": "5@example.com"}).await);
    refused(
        "a name with other options",
        86,
        c.create_index(index(doc! {"n": -1}, IndexOptions::builder().name("email_1".to_string()).build())).await,
    );
    let plan =
        db.run_command(doc! {"explain": {"find": "c", "filter": {"email": "5@example.com"}}, "verbosity": "queryPlanner"}).await.expect("explain");
    assert!(format!("{plan}").contains("IXSCAN"), "{plan}");
    assert_eq!(all(c.find(doc! {"n": 3}).hint(mongodb::options::Hint::Keys(doc! {"n": 1, "_id": -1})).await).await.len(), 10);

    c.drop_index("some").await.expect("drop an index");
    c.drop_indexes().await.expect("drop all indexes");
    assert_eq!(c.list_index_names().await.expect("list indexes"), ["_id_"]);
}

#[tokio::test]
async fn collections() {
    let (_server, db) = stand_alone().await;
    db.create_collection("checked").validator(doc! {"$jsonSchema": {"required": ["name"]}}).await.expect("create");
    refused("a document that does not fit", 121, db.collection("checked").insert_one(doc! {"_id": 1}).await);
    db.collection("checked").insert_one(doc! {"name": "ann", "age": 5}).await.expect("insert");
    db.create_collection("names")
        .view_on("checked".to_string())
        .pipeline(vec![doc! {"$project": {"_id": 0, "name": 1}}])
        .await
        .expect("create a view");
    assert_eq!(db.collection::<Document>("names").find_one(doc! {}).await.expect("find"), Some(doc! {"name": "ann"}));
    refused("the same collection again", 48, db.create_collection("checked").validator(doc! {"name": "ann"}).await);
    let mut names = db.list_collection_names().await.expect("list collections");
    names.sort();
    assert_eq!(names, ["checked", "names"]);
    assert!(db.client().list_database_names().await.expect("list databases").contains(&"rust".to_string()));
    db.drop().await.expect("drop the database");
    assert!(db.list_collection_names().await.expect("list collections").is_empty());
}
