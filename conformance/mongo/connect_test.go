package mongo

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/mayflydb/mayfly/conformance/several"
)

// roundTrip writes and reads through a client of this connection string.
func roundTrip(t *testing.T, uri string) {
	t.Helper()
	ctx := within(t, patience)
	c := newDatabase(connect(t, uri)).Collection("things")
	text := string(make([]byte, 4096)) // enough that compression has something to do
	_, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "text", Value: text}})
	must(t, err)
	var got struct{ Text string }
	must(t, c.FindOne(ctx, bson.D{{Key: "_id", Value: 1}}).Decode(&got))
	if got.Text != text {
		t.Errorf("read %d bytes, wrote %d", len(got.Text), len(text))
	}
}

func TestStandAlone(t *testing.T) {
	t.Parallel()
	s := start(t, "--memory", "--mongo-replset=")
	roundTrip(t, s.uri(""))
	roundTrip(t, s.uri("directConnection=true"))
	c := s.connect(t, "")
	var hello struct {
		MaxWireVersion    int
		SetName           string
		IsWritablePrimary bool
	}
	must(t, c.Database("admin").RunCommand(within(t, patience), bson.D{{Key: "hello", Value: 1}}).Decode(&hello))
	if hello.SetName != "" || !hello.IsWritablePrimary || hello.MaxWireVersion != 21 {
		t.Errorf("hello: %+v", hello)
	}
	session, err := c.StartSession()
	must(t, err)
	defer session.EndSession(within(t, patience))
	must(t, session.StartTransaction())
	_, err = c.Database("db").Collection("c").InsertOne(mongo.NewSessionContext(within(t, patience), session),
		bson.D{{Key: "a", Value: 1}})
	wantCode(t, "a transaction on a stand-alone server", err, 20)
	if !strings.Contains(err.Error(), "--mongo-replset") {
		t.Errorf("the error does not name the setting: %v", err)
	}
}

// The client goes to the addresses that the server says it has.
func TestReplicaSet(t *testing.T) {
	several.Lack(t, "replica set")
	t.Parallel()
	s := start(t, "--memory")
	roundTrip(t, s.uri(""))
	roundTrip(t, s.uri("replicaSet=globaldb"))
	roundTrip(t, s.uri("directConnection=true"))
	roundTrip(t,
		s.uri("replicaSet=globaldb&readPreference=secondaryPreferred&retryWrites=false&maxIdleTimeMS=120000&appName=%40acct%40"))
	roundTrip(t, s.uri("w=majority&readConcernLevel=majority&journal=true"))
	wrong := s.connect(t, "replicaSet=other&serverSelectionTimeoutMS=300")
	if err := wrong.Ping(within(t, patience), nil); err == nil {
		t.Error("a client of another replica set was served")
	}
}

func TestCompressors(t *testing.T) {
	t.Parallel()
	s := start(t, "--memory")
	for _, name := range []string{"snappy", "zlib", "zstd", "zstd,snappy,zlib"} {
		t.Run(name, func(t *testing.T) { roundTrip(t, s.uri("compressors="+name)) })
	}
}

func TestTLS(t *testing.T) {
	several.Lack(t, "own certificate")
	t.Parallel()
	dir := t.TempDir()
	s := start(t, "--data", dir)
	ca := url.QueryEscape(filepath.Join(dir, "tls", "ca.pem"))
	roundTrip(t, s.uri("tls=true&tlsCAFile="+ca))
	roundTrip(t, s.uri("ssl=true&replicaSet=globaldb&compressors=zstd&tlsCAFile="+ca))
	roundTrip(t, s.uri("tls=false")) // the same port answers both
	stranger := s.connect(t, "tls=true&serverSelectionTimeoutMS=300")
	if err := stranger.Ping(within(t, patience), nil); err == nil {
		t.Error("a client that does not know the authority trusted the server")
	}
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, "--data", dir, "--mongo-auth", "on")
	for _, query := range []string{
		"", "authMechanism=SCRAM-SHA-256", "authMechanism=SCRAM-SHA-1", "replicaSet=globaldb&retrywrites=false",
	} {
		roundTrip(t, s.as("mayfly", emulatorKey, query))
	}
	ping := bson.D{{Key: "listDatabases", Value: 1}}
	admin := s.connect(t, "").Database("admin")
	wantCode(t, "nobody", admin.RunCommand(within(t, patience), ping).Err(), 13)
	t.Run("encrypted", func(t *testing.T) {
		several.Lack(t, "own certificate")
		ca := "&tlsCAFile=" + url.QueryEscape(filepath.Join(dir, "tls", "ca.pem"))
		for _, uri := range []string{ // the last two as Azure and its emulator give them
			s.as("mayfly", emulatorKey, "tls=true"+ca),
			s.as("acct-1", emulatorKey,
				"ssl=true&replicaSet=globaldb&retrywrites=false&maxIdleTimeMS=120000&appName=@acct-1@"+ca),
			strings.Replace(s.as("localhost", emulatorKey, "ssl=true"+ca), "/?", "/admin?", 1),
		} {
			roundTrip(t, uri)
		}
	})
	roundTrip(t, strings.Replace(s.as("acct-1", emulatorKey, ""), "/?", "/shop?", 1))
	for _, uri := range []string{s.as("mayfly", "wrong", ""), s.as("nobody", "wrong", ""),
		s.as("mayfly", "wrong", "authMechanism=SCRAM-SHA-1")} {
		wantCode(t, uri, connect(t, uri).Ping(within(t, patience), nil), 18)
	}

	root := connect(t, s.as("mayfly", emulatorKey, ""))
	create := bson.D{{Key: "createUser", Value: "reader"}, {Key: "pwd", Value: "s3cret"},
		{Key: "roles", Value: bson.A{"read"}}}
	must(t, root.Database("shop").RunCommand(within(t, patience), create).Err())
	reader := connect(t, s.as("reader", "s3cret", "authSource=shop")).Database("shop").Collection("c")
	if n := count(t, reader, bson.D{}); n != 0 {
		t.Errorf("%d documents", n)
	}
	_, err := reader.InsertOne(within(t, patience), bson.D{{Key: "a", Value: 1}})
	wantCode(t, "a reader that writes", err, 13)
}
