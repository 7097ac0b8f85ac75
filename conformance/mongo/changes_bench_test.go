package mongo

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// BenchmarkChanges tells what a replica set costs, which keeps its changes for change streams: the server's processor
// time and the bytes in its folder after a stop, for each document of about 900 bytes. An operation is 1,000 of them,
// inserted, or changed in one member one by one.
func BenchmarkChanges(b *testing.B) {
	for _, kind := range []struct{ name, flag string }{{"set", "--mongo-replset=globaldb"},
		{"stand-alone", "--mongo-replset="}} {
		for _, verb := range []string{"insert", "update"} {
			b.Run(verb+"/"+kind.name, func(b *testing.B) {
				dir := b.TempDir()
				s := start(b, "--data", dir, kind.flag)
				c := s.connect(b, "").Database("bench").Collection("c")
				for i := range b.N {
					some := make([]any, 1000)
					for j := range some {
						d := bson.D{{Key: "_id", Value: i*1000 + j}, {Key: "n", Value: j * 7919 % 1009}}
						for k := range 18 {
							d = append(d,
								bson.E{Key: fmt.Sprintf("field%02d", k),
									Value: fmt.Sprintf("a value of thirty characters %d", (j+k)*7919%1009)})
						}
						some[j] = d
					}
					if verb == "insert" || i == 0 {
						_, err := c.InsertMany(b.Context(), some)
						must(b, err)
					}
					for j := range some {
						if verb == "update" {
							_, err := c.UpdateOne(b.Context(), bson.D{{Key: "_id", Value: j}},
								bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: i + j}}}})
							must(b, err)
						}
					}
				}
				b.StopTimer()
				s.signal(syscall.SIGTERM)
				used := s.process.ProcessState.UserTime() + s.process.ProcessState.SystemTime()
				b.ReportMetric(float64(used.Microseconds())/float64(b.N*1000), "cpu-µs/document")
				b.ReportMetric(float64(folderBytes(b, dir))/float64(b.N*1000), "disk-B/document")
			})
		}
	}
}

func folderBytes(b *testing.B, dir string) (sum int64) {
	must(b, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if info, err := d.Info(); err == nil && !d.IsDir() {
			sum += info.Size()
		}
		return err
	}))
	return sum
}
