//! GridFS.

use futures_util::io::{AsyncReadExt, AsyncWriteExt};
use mongodb::bson::{Document, doc};

use super::{all, stand_alone};

#[tokio::test]
async fn files_of_several_chunks_come_back_as_they_went() {
    let (_server, db) = stand_alone().await;
    let bucket = db.gridfs_bucket(None);
    let content: Vec<u8> = (0..1_600_000u32).map(|i| (i.wrapping_mul(2654435761) >> 13) as u8).collect();
    let mut upload = bucket.open_upload_stream("a.bin").metadata(doc! {"kind": "test"}).await.expect("open");
    upload.write_all(&content).await.expect("write");
    upload.close().await.expect("close");
    let id = upload.id().clone();
    let file = bucket.find_one(doc! {"filename": "a.bin"}).await.expect("find").expect("a file");
    assert_eq!((file.length, file.metadata), (content.len() as u64, Some(doc! {"kind": "test"})));
    let mut back = vec![];
    bucket.open_download_stream(id.clone()).await.expect("open").read_to_end(&mut back).await.expect("read");
    assert!(back == content, "{} bytes came back of {}", back.len(), content.len());
    bucket.rename(id.clone(), "b.bin").await.expect("rename");
    let names: Vec<_> = all(bucket.find(doc! {}).await).await.into_iter().map(|f| f.filename).collect();
    assert_eq!(names, [Some("b.bin".to_string())]);
    bucket.delete(id).await.expect("delete");
    assert_eq!(db.collection::<Document>("fs.chunks").count_documents(doc! {}).await.expect("count"), 0);
}
