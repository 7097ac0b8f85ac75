//! Pipelines of several stages and collections.

use mongodb::bson::{Bson, DateTime, Document, doc};

use super::{all, filled, refused, stand_alone};

#[tokio::test]
async fn groups_and_lookups() {
    let (_server, db) = stand_alone().await;
    let day = |i: i64| DateTime::from_millis(1893456000000 + 86400000 * (i % 31)); // 2030-01-01 and on
    let sales = filled(&db, (0..300).map(|i| doc! {"_id": i, "shop": format!("s{}", i % 3), "price": (i * 7) % 50, "day": day(i.into())})).await;
    db.collection("shops").insert_many([doc! {"_id": "s0", "city": "Oslo"}, doc! {"_id": "s1", "city": "Rome"}]).await.expect("insert");
    let pipeline = vec![
        doc! {"$match": {"price": {"$gte": 10}}},
        doc! {"$group": {"_id": "$shop", "total": {"$sum": "$price"}, "mean": {"$avg": "$price"}, "dear": {"$max": "$price"}, "n": {"$count": {}}}},
        doc! {"$lookup": {"from": "shops", "let": {"s": "$_id"}, "pipeline": [{"$match": {"$expr": {"$eq": ["$_id", "$$s"]}}}], "as": "shop"}},
        doc! {"$set": {"city": {"$ifNull": [{"$first": "$shop.city"}, "nowhere"]}}},
        doc! {"$unset": "shop"},
        doc! {"$sort": {"_id": 1}},
    ];
    let shops = all(sales.aggregate(pipeline).batch_size(1).await).await;
    let told: Vec<_> = shops.iter().map(|s| (s.get_str("_id").unwrap(), s.get_str("city").unwrap(), s.get_i32("dear").unwrap())).collect();
    assert_eq!(told, [("s0", "Oslo", 49), ("s1", "Rome", 49), ("s2", "nowhere", 49)]);
    assert_eq!(shops.iter().map(|s| s.get_i32("n").unwrap()).sum::<i32>(), 240);

    let facets = all(sales
        .aggregate(vec![doc! {"$facet": {
            "months": [{"$group": {"_id": {"$dateToString": {"date": "$day", "format": "%Y-%m"}}, "n": {"$sum": 1}}}],
            "prices": [{"$bucket": {"groupBy": "$price", "boundaries": [0, 25, 50], "output": {"n": {"$sum": 1}}}}],
            "top": [{"$sort": {"price": -1, "_id": 1}}, {"$limit": 2}, {"$project": {"price": 1}}],
            "all": [{"$count": "n"}],
        }}])
        .await)
    .await;
    assert_eq!(
        facets,
        [doc! {
            "months": [{"_id": "2030-01", "n": 300}],
            "prices": [{"_id": 0, "n": 150}, {"_id": 25, "n": 150}],
            "top": [{"_id": 7, "price": 49}, {"_id": 57, "price": 49}],
            "all": [{"n": 300}],
        }]
    );
}

#[tokio::test]
async fn merge_out_union_and_windows() {
    let (_server, db) = stand_alone().await;
    let c = filled(&db, (0..6).map(|i| doc! {"_id": i, "n": i * i})).await;
    all(c.aggregate(vec![doc! {"$match": {"_id": {"$lt": 3}}}, doc! {"$out": "small"}]).await).await;
    all(c
        .aggregate(vec![
            doc! {"$match": {"_id": {"$gte": 2}}},
            doc! {"$set": {"big": true}},
            doc! {"$merge": {"into": "small", "whenMatched": "merge"}},
        ])
        .await)
    .await;
    let small = db.collection::<Document>("small");
    assert_eq!(small.count_documents(doc! {}).await.expect("count"), 6);
    assert_eq!(small.find_one(doc! {"_id": 2}).await.expect("find"), Some(doc! {"_id": 2, "n": 4, "big": true}));
    let sums = all(c
        .aggregate(vec![
            doc! {"$setWindowFields": {"sortBy": {"_id": 1}, "output": {"sum": {"$sum": "$n", "window": {"documents": ["unbounded", "current"]}}}}},
            doc! {"$sort": {"_id": 1}},
            doc! {"$project": {"_id": 0, "sum": 1}},
        ])
        .await)
    .await;
    assert_eq!(sums, [0, 1, 5, 14, 30, 55].map(|sum| doc! {"sum": sum}));
    let union = all(c.aggregate(vec![doc! {"$unionWith": "small"}, doc! {"$count": "n"}]).await).await;
    assert_eq!(union, [doc! {"n": 12}]);
    refused("an unknown stage", 40324, c.aggregate(vec![doc! {"$stage": {}}]).await.map(|_| Bson::Null));
}
