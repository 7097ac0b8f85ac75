package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/node"
)

// configured runs configure as serve would, with an environment of its own.
func configured(t *testing.T, env map[string]string, args ...string) (config, error) {
	t.Helper()
	c := command{
		getenv: func(name string) (string, bool) {
			v, ok := env[name]
			return v, ok
		},
		environ: func() (lines []string) {
			for name, value := range env {
				lines = append(lines, name+"="+value)
			}
			return lines
		},
	}
	cmd := &cobra.Command{Args: cobra.NoArgs}
	addFlags(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return c.configure(cmd)
}

func settingsFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mayfly.conf")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDefaults(t *testing.T) {
	got, err := configured(t, nil)
	want := config{
		data: "./mayfly-data", reserve: 64 << 20, memoryLimit: chosenByMachine, logLevel: slog.LevelInfo, traceRatio: 1,
		node: node.Options{NoSQL: "127.0.0.1:8081", Admin: "127.0.0.1:8080",
			Mongo: node.Mongo{Address: "127.0.0.1:27017", ReplSet: "globaldb"}, Region: "South Central US",
			Consistency: "Session", Partitions: 1},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("defaults %+v, error %v, want %+v", got, err, want)
	}
}

// TestStandAlone gives the replica set no name, which only a flag and a line of a file can do.
func TestStandAlone(t *testing.T) {
	for name, args := range map[string][]string{"flag": {"--mongo-replset", ""},
		"file": {"--config", settingsFile(t, "mongo-replset =\n")}} {
		if got, err := configured(t, nil, args...); err != nil || got.node.Mongo.ReplSet != "" {
			t.Errorf("%s: the set %q, error %v", name, got.node.Mongo.ReplSet, err)
		}
	}
}

func TestPrecedence(t *testing.T) {
	const file = "# settings\nregion = From File\n\nsync = off # quick\n"
	cases := []struct {
		name   string
		file   string
		env    map[string]string
		args   []string
		region string
		noSync bool
	}{
		{"nothing given", "", nil, nil, "South Central US", false},
		{"file", file, nil, nil, "From File", true},
		{"environment beats file", file, map[string]string{"MAYFLY_REGION": "From Env"}, nil, "From Env", true},
		{"flag beats environment and file", file, map[string]string{"MAYFLY_REGION": "From Env", "MAYFLY_SYNC": "off"},
			[]string{"--region=From Flag", "--sync", "on"}, "From Flag", false},
		{"empty variable", file, map[string]string{"MAYFLY_REGION": "", "MAYFLY_SYNC": ""}, nil, "From File", true},
		{"flag that repeats the default", file, map[string]string{"MAYFLY_SYNC": "off"},
			[]string{"--sync=on", "--region", "South Central US"}, "South Central US", false},
	}
	for _, c := range cases {
		args := c.args
		if c.file != "" {
			args = append(args, "--config", settingsFile(t, c.file))
		}
		got, err := configured(t, c.env, args...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got.node.Region != c.region || got.noSync != c.noSync {
			t.Errorf("%s: region %q, no sync %v, want %q, %v", c.name, got.node.Region, got.noSync, c.region, c.noSync)
		}
	}
}

func TestFileNamedByEnvironment(t *testing.T) {
	got, err := configured(t, map[string]string{"MAYFLY_CONFIG": settingsFile(t, "reclaim-rate = 250")})
	if err != nil || got.node.ReclaimRate != 250 {
		t.Errorf("rate %d, error %v, want 250", got.node.ReclaimRate, err)
	}
}

// TestEverySetting gives each setting by flag, environment and file alike.
func TestEverySetting(t *testing.T) {
	cases := map[string]struct {
		value string
		check func(config) bool
	}{
		"config": {"", func(c config) bool { return true }},
		"data":   {"/d", func(c config) bool { return c.data == "/d" }},
		"memory": {"true", func(c config) bool { return c.memory }},
		"engine": {"tikv://a:2379,b:2379/p", func(c config) bool { return c.cluster == "tikv://a:2379,b:2379/p" }},
		"engine-tls": {"", func(c config) bool { // which needs an engine, see TestClusterFiles
			return c.clusterTLS == clusterTLS{}
		}},
		"emulator": {"on", func(c config) bool {
			return c.node.Emulator && c.node.AllowWellKnownKey && c.node.Mongo.ReplSet == "globaldb"
		}},
		"seed":  {"seeds", func(c config) bool { return c.node.Seed == "seeds" }},
		"nosql": {"0.0.0.0:0", func(c config) bool { return c.node.NoSQL == "0.0.0.0:0" }},
		"nosql-tls": {"c.pem,k.pem", func(c config) bool {
			return c.node.TLS == node.TLS{Cert: "c.pem", Key: "k.pem"}
		}},
		"mongo": {"127.0.0.1:27018", func(c config) bool {
			return c.node.Mongo.Address == "127.0.0.1:27018"
		}},
		"mongo-auth":    {"on", func(c config) bool { return c.node.Mongo.Auth == "on" }},
		"mongo-replset": {"rs0", func(c config) bool { return c.node.Mongo.ReplSet == "rs0" }},
		"mongo-advertise": {"db.example:10255", func(c config) bool {
			return c.node.Mongo.Advertise == "db.example:10255"
		}},
		"mongo-ttl":           {"cosmos", func(c config) bool { return c.node.Mongo.CosmosTTL }},
		"mongo-test-commands": {"true", func(c config) bool { return c.node.Mongo.TestCommands }},
		"nosql-compute":       {"127.0.0.1:8903", func(c config) bool { return c.node.Compute == "127.0.0.1:8903" }},
		"nosql-cors": {"https://App.example:443, http://localhost:3000/", func(c config) bool {
			return slices.Equal(c.node.Origins, []string{"https://app.example", "http://localhost:3000"})
		}},
		"cross-partition":      {"strict", func(c config) bool { return c.node.Strict }},
		"partitions":           {"4", func(c config) bool { return c.node.Partitions == 4 }},
		"admin":                {"http://[::1]:9/", func(c config) bool { return c.node.Admin == "[::1]:9" }},
		"key":                  {"a2V5==", func(c config) bool { return c.node.Key == "a2V5==" }},
		"allow-well-known-key": {"on", func(c config) bool { return c.node.AllowWellKnownKey }},
		"allow-host": {"db.example, *.app.github.dev", func(c config) bool {
			return slices.Equal(c.node.AllowHosts, []string{"db.example", "*.app.github.dev"})
		}},
		"clock": {"virtual=2026-03-01T12:00:00Z", func(c config) bool {
			return c.node.Virtual && c.node.VirtualStart.Equal(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		}},
		"sync":         {"off", func(c config) bool { return c.noSync }},
		"disk-reserve": {"1GiB", func(c config) bool { return c.reserve == 1<<30 }},
		"memory-limit": {"2GiB", func(c config) bool { return c.memoryLimit == 2<<30 }},
		"region":       {"West US", func(c config) bool { return c.node.Region == "West US" }},
		"advertise": {"https://db.example/", func(c config) bool {
			return c.node.Advertise == "https://db.example/"
		}},
		"consistency":  {"strong", func(c config) bool { return c.node.Consistency == "Strong" }},
		"reclaim-rate": {"7", func(c config) bool { return c.node.ReclaimRate == 7 }},
		"slow":         {"100ms", func(c config) bool { return c.node.Slow == 100*time.Millisecond }},
		"trace":        {"http://localhost:4318", func(c config) bool { return c.traceURL == "http://localhost:4318" }},
		"trace-ratio":  {"0.25", func(c config) bool { return c.traceRatio == 0.25 }},
		"log":          {"json", func(c config) bool { return c.logJSON }},
		"log-level":    {"debug", func(c config) bool { return c.logLevel == slog.LevelDebug }},
	}
	for _, s := range settings {
		c, ok := cases[s.name]
		if !ok {
			t.Errorf("no case for %s", s.name)
			continue
		}
		byFlag, err := configured(t, nil, "--"+s.name+"="+c.value)
		if err != nil || !c.check(byFlag) {
			t.Errorf("--%s=%s gives %+v, error %v", s.name, c.value, byFlag, err)
		}
		byEnv, err := configured(t, map[string]string{s.env(): c.value})
		if err != nil || !reflect.DeepEqual(byEnv, byFlag) {
			t.Errorf("%s=%s gives %+v, error %v", s.env(), c.value, byEnv, err)
		}
		if s.name == "config" {
			continue
		}
		byFile, err := configured(t, nil, "--config", settingsFile(t, s.name+" = "+c.value+"\n"))
		byFile.configFile = ""
		if err != nil || !reflect.DeepEqual(byFile, byFlag) {
			t.Errorf("%s = %s in a file gives %+v, error %v", s.name, c.value, byFile, err)
		}
	}
}

func TestClusterFiles(t *testing.T) {
	got, err := configured(t, nil, "--engine=tikv://pd:2379", "--engine-tls=main.go,serve.go,settings.go")
	if want := (clusterTLS{"main.go", "serve.go", "settings.go"}); err != nil || got.clusterTLS != want {
		t.Errorf("got %+v, error %v, want %+v", got.clusterTLS, err, want)
	}
}

// TestPartitionsOfACluster gives no number of ranges, and a number in each way.
func TestPartitionsOfACluster(t *testing.T) {
	const cluster = "tikv://pd:2379"
	file := settingsFile(t, "partitions = 3\nengine = "+cluster+"\n")
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		want int
	}{
		"a folder":               {nil, nil, 1},
		"memory":                 {[]string{"--memory"}, nil, 1},
		"a cluster":              {[]string{"--engine", cluster}, nil, 8},
		"of the environment":     {nil, map[string]string{"MAYFLY_ENGINE": cluster}, 8},
		"of a file":              {[]string{"--config", settingsFile(t, "engine = "+cluster+"\n")}, nil, 8},
		"flag":                   {[]string{"--engine", cluster, "--partitions=1"}, nil, 1},
		"environment":            {[]string{"--engine", cluster}, map[string]string{"MAYFLY_PARTITIONS": "2"}, 2},
		"file":                   {[]string{"--config", file}, nil, 3},
		"an engine that is \"\"": {[]string{"--engine="}, nil, 1},
	} {
		if got, err := configured(t, c.env, c.args...); err != nil || got.node.Partitions != c.want {
			t.Errorf("%s: %d ranges, error %v, want %d", name, got.node.Partitions, err, c.want)
		}
	}
}

// TestFolderOfTheImage gives a cluster to the image, whose environment names a folder of data.
func TestFolderOfTheImage(t *testing.T) {
	got, err := configured(t, map[string]string{"MAYFLY_DATA": "/data"}, "--engine=tikv://pd:2379")
	if err != nil || got.cluster == "" {
		t.Errorf("%+v, error %v", got, err)
	}
}

// TestGivenSettingsBeatTheEmulators gives what --emulator implies another value, in each way.
func TestGivenSettingsBeatTheEmulators(t *testing.T) {
	file := settingsFile(t, "emulator = on\nallow-well-known-key = off\nmongo-replset =\n")
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
	}{
		"flags": {[]string{"--emulator", "--allow-well-known-key=off", "--mongo-replset="}, nil},
		"environment": {[]string{"--mongo-replset="},
			map[string]string{"MAYFLY_EMULATOR": "on", "MAYFLY_ALLOW_WELL_KNOWN_KEY": "off"}},
		"file": {[]string{"--config", file}, nil},
	} {
		got, err := configured(t, c.env, c.args...)
		if err != nil || !got.node.Emulator || got.node.AllowWellKnownKey || got.node.Mongo.ReplSet != "" {
			t.Errorf("%s: %+v, error %v", name, got.node, err)
		}
	}
}

func TestBadSettings(t *testing.T) {
	cases := []struct {
		name, file string
		args       []string
		env        map[string]string
		want       string // what the error must say
	}{
		{name: "flag", args: []string{"--sync=maybe"}, want: "--sync: "},
		{name: "address of a cluster", args: []string{"--engine=tikv://pd"}, want: "--engine: "},
		{name: "cluster and folder", args: []string{"--engine=tikv://pd:2379", "--data=d"},
			want: "--data does not fit --engine tikv://pd:2379: the cluster keeps the data"},
		{name: "cluster and memory", env: map[string]string{"MAYFLY_MEMORY": "on"},
			args: []string{"--engine=tikv://pd:2379"}, want: "MAYFLY_MEMORY does not fit --engine"},
		{name: "cluster and disk", file: "engine = tikv://pd:2379\ndisk-reserve = 1GiB",
			want: "mayfly.conf:2: disk-reserve does not fit --engine"},
		{name: "TLS without cluster", args: []string{"--engine-tls=settings.go,settings.go,settings.go"},
			want: "--engine-tls is for TLS to a cluster"},
		{name: "TLS of one file", args: []string{"--engine=tikv://pd:2379", "--engine-tls=ca.pem"},
			want: "is not three files"},
		{name: "environment", env: map[string]string{"MAYFLY_RECLAIM_RATE": "-1"}, want: "MAYFLY_RECLAIM_RATE: "},
		{name: "file", file: "\n\nclock = lunar", want: "mayfly.conf:3: clock: "},
		{name: "unknown name", file: "region = x\nregoin = y",
			want: "mayfly.conf:2: there is no such setting regoin, did you mean region?"},
		{name: "unknown name, like no other", file: "colour = red",
			want: "mayfly.conf:1: there is no such setting colour"},
		{name: "name in capitals", file: "Data = d",
			want: "mayfly.conf:1: there is no such setting, did you mean data?"},
		{name: "name of the variable", file: "MAYFLY_MONGO_AUTH = on",
			want: "mayfly.conf:1: there is no such setting, did you mean mongo-auth?"},
		{name: "no equals sign", file: "memory", want: "mayfly.conf:1: "},
		{name: "no equals sign, known name", file: "key C2y6",
			want: "mayfly.conf:1: this line does not have the form name = value, although it begins with key"},
		{name: "twice", file: "sync=on\nsync=off", want: "mayfly.conf:2: sync is set twice"},
		{name: "a file in a file", file: "config = x", want: "mayfly.conf:1: "},
		{name: "no such file", args: []string{"--config", "no.conf"}, want: "no.conf"},
		{name: "real clock with a time", args: []string{"--clock=real=2026-03-01T12:00:00Z"}, want: "--clock: "},
		{name: "virtual clock with no time", args: []string{"--clock=virtual=noon"}, want: "--clock: "},
		{name: "clock that starts too late", args: []string{"--clock=virtual=2300-01-01T00:00:00Z"},
			want: "--clock: the clock goes from 1970-01-01T00:00:00Z to 2190-01-01T00:00:00Z"},
		{name: "clock that starts too early", args: []string{"--clock=virtual=1900-01-01T00:00:00Z"}, want: "1970"},
		{name: "address without port", args: []string{"--nosql=foo"}, want: `--nosql: "foo" is not host:port`},
		{name: "address without port, a number", args: []string{"--nosql=127.0.0.1"}, want: "is not host:port"},
		{name: "port out of range", args: []string{"--nosql=:99999"}, want: "is not host:port"},
		{name: "port with a sign", args: []string{"--nosql=:+1"}, want: "is not host:port"},
		{name: "advertised address without port", args: []string{"--mongo-advertise=db.example"},
			want: `--mongo-advertise: "db.example" is not an address`},
		{name: "advertised address, a URL", args: []string{"--mongo-advertise=mongodb://db.example:27017"},
			want: "--mongo-advertise: "},
		{name: "advertised address without host", args: []string{"--mongo-advertise=:27017"},
			want: "--mongo-advertise: "},
		{name: "advertised address, all of them", args: []string{"--mongo-advertise=0.0.0.0:27017"},
			want: "--mongo-advertise: "},
		{name: "advertised address of a stand-alone",
			args: []string{"--mongo-replset=", "--mongo-advertise=db.example:27017"}, want: "--mongo-replset is empty"},
		{name: "advertised port, none", args: []string{"--mongo-advertise=db.example:0"}, want: "--mongo-advertise: "},
		{name: "admin address", args: []string{"--admin=foo"}, want: `--admin: "foo" is not host:port`},
		{name: "admin address, another scheme", args: []string{"--admin=ftp://localhost:8080/"},
			want: "is not host:port"},
		{name: "endpoint with a query", args: []string{"--advertise=https://db.example/?a=b"}, want: "--advertise: "},
		{name: "endpoint with a fragment", args: []string{"--advertise=https://db.example/#"}, want: "--advertise: "},
		{name: "endpoint without scheme", args: []string{"--advertise=db.example"}, want: "--advertise: "},
		{name: "folder for memory", args: []string{"--memory", "--data=d"}, want: "--memory"},
		{name: "folder for memory of the environment", args: []string{"--data=d"},
			env: map[string]string{"MAYFLY_MEMORY": "on"}, want: "--memory"},
		{name: "one certificate file", args: []string{"--nosql-tls=c.pem"}, want: "--nosql-tls: "},
		{name: "empty data folder", args: []string{"--data="}, want: "--data: "},
		{name: "no partitions", args: []string{"--partitions=0"}, want: "--partitions: "},
		{name: "too many partitions", args: []string{"--partitions=257"},
			want: "is not a number of ranges from 1 to 256"},
		{name: "level", args: []string{"--consistency=Absolute"}, want: "--consistency: "},
		{name: "log", args: []string{"--log=xml"}, want: "--log: "},
		{name: "log level", args: []string{"--log-level=loud"}, want: "--log-level: "},
	}
	for _, c := range cases {
		args := c.args
		if c.file != "" {
			args = append(args, "--config", settingsFile(t, c.file))
		}
		if _, err := configured(t, c.env, args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// TestKeyOfAWrongLineIsNotPrinted mistypes the line of a key in every way.
func TestKeyOfAWrongLineIsNotPrinted(t *testing.T) {
	for _, line := range []string{
		"key %s", "key: %s", "key:%s", "kye = %s", "%s", "%s = key", "key\t%s", "Key=%s", "key%s", "=%s", "key-%s=x",
		"account key = %s",
	} {
		path := settingsFile(t, strings.ReplaceAll(line, "%s", node.WellKnownKey)+"\n")
		_, err := configured(t, nil, "--config", path)
		if err == nil || !strings.Contains(err.Error(), path+":1: ") {
			t.Errorf("%s: error %v, want one that names the line", line, err)
			continue
		}
		if strings.Contains(err.Error(), node.WellKnownKey[:4]) {
			t.Errorf("%s: the key is printed: %v", line, err)
		}
	}
}

// TestUnknownVariables: what begins like a setting and is none stops the program.
func TestUnknownVariables(t *testing.T) {
	const value = "secret-value"
	cases := []struct{ name, value, want string }{
		{"MAYFLY_DTAA", value, "MAYFLY_DTAA: there is no such setting, did you mean MAYFLY_DATA?"},
		{"MAYFLY_REGOIN", value, "MAYFLY_REGOIN: there is no such setting, did you mean MAYFLY_REGION?"},
		{"MAYFLY_NOSQLTLS", value, "did you mean MAYFLY_NOSQL_TLS?"},
		{"MAYFLY_MONGO_REPLSETS", value, "did you mean MAYFLY_MONGO_REPLSET?"},
		{"MAYFLY_REPLSET", value, "did you mean MAYFLY_MONGO_REPLSET?"},
		{"MAYFLY_LOGLEVEL", value, "did you mean MAYFLY_LOG_LEVEL?"},
		{"MAYFLY_ACCOUNT_COLOUR", value, "MAYFLY_ACCOUNT_COLOUR: there is no such setting: unset it"},
		{"MAYFLY_", value, "MAYFLY_: there is no such setting"},
		{"MAYFLY_PORT", "8081", "MAYFLY_PORT: there is no such setting"},
		{"MAYFLY_NOSQL_PORT", "8081", "MAYFLY_NOSQL_PORT: there is no such setting"},
		{"MAYFLY_PORT_8081", value, "MAYFLY_PORT_8081: "},
		{"MAYFLY_DTAA", "", ""}, // as not set
		{"MAYFLYDATA", value, ""},
		{"mayfly_other", value, ""},
		// kubernetes.io/docs/concepts/services-networking/service/#environment-variables, for services mayfly and
		// mayfly-nosql
		{"MAYFLY_SERVICE_HOST", "10.0.0.11", ""},
		{"MAYFLY_SERVICE_PORT", "8081", ""},
		{"MAYFLY_SERVICE_PORT_MONGO_TLS", "27017", ""},
		{"MAYFLY_PORT", "tcp://10.0.0.11:8081", ""},
		{"MAYFLY_PORT_8081_TCP", "tcp://10.0.0.11:8081", ""},
		{"MAYFLY_PORT_8081_TCP_PROTO", "tcp", ""},
		{"MAYFLY_PORT_8081_TCP_PORT", "8081", ""},
		{"MAYFLY_PORT_8081_TCP_ADDR", "10.0.0.11", ""},
		{"MAYFLY_PORT_8081_UDP", "udp://10.0.0.11:8081", ""},
		{"MAYFLY_NOSQL_SERVICE_HOST", "10.0.0.11", ""},
		{"MAYFLY_NOSQL_SERVICE_PORT_HTTPS", "8081", ""},
		{"MAYFLY_NOSQL_PORT", "tcp://10.0.0.11:8081", ""},
		{"MAYFLY_NOSQL_PORT_8081_TCP_ADDR", "10.0.0.11", ""},
	}
	for _, c := range cases {
		_, err := configured(t, map[string]string{c.name: c.value, "MAYFLY_REGION": "West US"})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s=%s: %v", c.name, c.value, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s=%s: error %v, want %q", c.name, c.value, err, c.want)
		case err != nil && strings.Contains(err.Error(), value):
			t.Errorf("%s: the value is printed: %v", c.name, err)
		}
	}
}

// TestUnknownVariableStopsEveryCommand that reads settings, with the exit code of wrong use.
func TestUnknownVariableStopsEveryCommand(t *testing.T) {
	for _, args := range [][]string{{}, {"serve", "--memory"}, {"check"}, {"clock", "show"}} {
		var out, err bytes.Buffer
		code := run(command{
			args: args, out: &out, err: &err,
			getenv:  func(string) (string, bool) { return "", false },
			environ: func() []string { return []string{"HOME=/", "MAYFLY_DTAA=/data"} },
		})
		if code != exitUsage || !strings.Contains(err.String(), "MAYFLY_DTAA") ||
			!strings.Contains(err.String(), "MAYFLY_DATA?") {
			t.Errorf("%v: exit %d, %s", args, code, err.String())
		}
	}
}

// TestSuitesSetNoVariableOfMayfly: programs of the conformance suites hand their environment on to the
// mayfly that they start.
func TestSuitesSetNoVariableOfMayfly(t *testing.T) {
	err := filepath.WalkDir("../../conformance", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); strings.HasPrefix(name, ".venv") ||
				slices.Contains([]string{"node_modules", "target", "venv", "__pycache__"}, name) {
				return filepath.SkipDir
			}
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte(prefix)) && !bytes.Contains(text, []byte{0}) {
			t.Errorf("%s uses a variable that begins with %s: let it begin with TESTED_", path, prefix)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestCertificateFiles: wrong ones end the start as a wrong setting does, before anything is made or opened.
func TestCertificateFiles(t *testing.T) {
	dir := t.TempDir()
	// makes certificates
	n, err := node.Start(t.Context(), node.Options{Engine: memory.New(), Dir: dir, NoSQL: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := func(name string) string { return filepath.Join(dir, "tls", name) }
	broken := settingsFile(t, "-----BEGIN CERTIFICATE-----\nnothing\n")
	cases := []struct{ name, cert, key, want string }{
		{"none", file("no.pem"), file("no.key"),
			"--nosql-tls: the certificate cannot be read: give two files, CERT.pem,KEY.pem: open " + file("no.pem")},
		{"no key", file("server.pem"), file("no.key"), "--nosql-tls: the certificate's key cannot be read"},
		{"a folder", dir, file("server.key"), "--nosql-tls: the certificate cannot be read"},
		{"not PEM", broken, file("server.key"), "are not a certificate and its key"},
		{"key that is none", file("server.pem"), broken, "are not a certificate and its key"},
		{"the other way round", file("server.key"), file("server.pem"), "are not a certificate and its key"},
		{"another's key", file("server.pem"), file("ca.key"),
			"are not a certificate and its key, both in PEM: tls: private key does not match public key"},
	}
	for _, c := range cases {
		data := filepath.Join(t.TempDir(), "data")
		var out, err bytes.Buffer
		// The address is nobody's: a start that looks at the ports first would exit with 1.
		code := run(command{args: []string{"--data=" + data, "--nosql=192.0.2.1:1", "--mongo=", "--admin=",
			"--nosql-tls=" + c.cert + "," + c.key}, out: &out, err: &err,
			getenv: func(string) (string, bool) { return "", false }})
		if code != exitUsage || !strings.Contains(err.String(), c.want) {
			t.Errorf("%s: exit %d, want %d with %q\n%s", c.name, code, exitUsage, c.want, err.String())
		}
		if _, err := os.Stat(data); err == nil {
			t.Errorf("%s: a data folder was made", c.name)
		}
	}
}

func TestEveryLevelIsTaken(t *testing.T) {
	for _, level := range levels {
		engine, err := config{memory: true}.openEngine(t.Context(), memoryPlan{}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		n, err := node.Start(t.Context(), node.Options{Engine: engine, NoSQL: "127.0.0.1:0", Consistency: level})
		if err != nil {
			t.Errorf("%s: %v", level, err)
			continue
		}
		if err := n.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestUsage(t *testing.T) {
	empty, file := t.TempDir(), settingsFile(t, "")
	if err := os.Mkdir(filepath.Join(empty, "db"), 0o700); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		args []string
		code int
		out  string // in stdout
		err  string // in stderr
	}{
		{"help", []string{"--help"}, exitOK, "--nosql-tls auto|off|CERT,KEY", ""},
		{"version", []string{"version"}, exitOK, "mayfly ", ""},
		{"version as JSON", []string{"version", "--json"}, exitOK, `"version": `, ""},
		{"version as a flag", []string{"--version"}, exitOK, "mayfly ", ""},
		{"unknown flag", []string{"--fast"}, exitUsage, "", "--fast"},
		{"unknown flag, a slip", []string{"--dta=x"}, exitUsage, "", "unknown flag: --dta, did you mean --data?"},
		{"unknown flag of a subcommand", []string{"check", "--loglevel=debug"}, exitUsage, "",
			"did you mean --log-level?"},
		{"unknown flag that is no setting", []string{"db", "list", "--jsn"}, exitUsage, "", "did you mean --json?"},
		{"unknown flag, a setting of others", []string{"db", "list", "--nosq=x"}, exitUsage, "",
			"unknown flag: --nosq\nRun 'mayfly db list --help' for usage."},
		{"unknown subcommand", []string{"server"}, exitUsage, "", "server"},
		{"unknown subcommand, a slip", []string{"db", "lst"}, exitUsage, "", "did you mean list?"},
		{"argument missing", []string{"ttl", "preview", "shop/carts"}, exitUsage, "",
			"1 argument is given: write mayfly ttl preview DB/CONTAINER TTL\nRun 'mayfly ttl preview --help' for usage."},
		{"no argument", []string{"backup"}, exitUsage, "", "no argument is given: write mayfly backup FOLDER|-"},
		{"argument for none", []string{"db", "list", "x"}, exitUsage, "", `mayfly db list takes no arguments`},
		{"argument too many", []string{"serve", "now"}, exitUsage, "", "now"},
		{"bad value", []string{"--log=xml"}, exitUsage, "", "--log"},
		{"well-known key on every address",
			[]string{"--memory", "--nosql=:0", "--admin=", "--key=" + node.WellKnownKey}, exitUsage, "",
			"--allow-well-known-key"},
		{"no place for a key", []string{"--memory", "--nosql=:0", "--admin="}, exitUsage, "", "--key"},
		{"clock without verb", []string{"clock"}, exitUsage, "", "advance"},
		{"clock advance by nothing", []string{"clock", "advance", "soon"}, exitUsage, "", "write it like"},
		{"clock advance too far", []string{"clock", "advance", "9999999h"}, exitUsage, "", "too long"},
		{"clock advance back", []string{"clock", "advance", "-5s"}, exitUsage, "", "forward only"},
		{"clock advance back, as an argument", []string{"clock", "advance", "--", "-5s"}, exitUsage, "",
			"forward only"},
		{"clock set to nothing", []string{"clock", "set", "noon"}, exitUsage, "", "write it like"},
		{"clock without address", []string{"clock", "show", "--admin="}, exitUsage, "", "the admin address is empty"},
		{"health without address", []string{"health", "--admin="}, exitUsage, "", "the admin address is empty"},
		{"clock at no address", []string{"clock", "show", "--admin=localhost"}, exitUsage, "", "not host:port"},
		{"no address", []string{"--memory", "--nosql=", "--mongo=", "--admin="}, exitUsage, "",
			"give at least one address"},
		{"origin with a path", []string{"--memory", "--nosql-cors=https://a.example,https://b.example/page"}, exitUsage,
			"", `--nosql-cors: "https://b.example/page" is not a web origin`},
		{"wildcard within an origin", []string{"--memory", "--nosql-cors=https://*.example"}, exitUsage, "",
			"--nosql-cors"},
		{"origin with half a port", []string{"--memory", "--nosql-cors=https://a.example:"}, exitUsage, "",
			"--nosql-cors"},
		{"origin not as browsers send it", []string{"--memory", "--nosql-cors=https://bücher.example"}, exitUsage, "",
			"--nosql-cors"},
		{"host with a port", []string{"--memory", "--allow-host=db.example:8081"}, exitUsage, "",
			`--allow-host: "db.example:8081" is not a host name: give a name such as db.example, without a port`},
		{"bad address", []string{"--memory", "--nosql=foo"}, exitUsage, "", `--nosql: "foo" is not host:port`},
		{"data in a file", []string{"--data=" + file, "--nosql=127.0.0.1:0", "--admin="}, exitFailed, "",
			`mayfly: --data: data folder "` + file + `/db" is a file, or is below a file: choose another folder`},
		{"check in a file", []string{"check", "--data=" + file}, exitFailed, "", "mayfly: --data: open " + file},
		{"check of an empty folder", []string{"check", "--data=" + empty}, exitFailed, "", "no database"},
		{"clock advance without duration", []string{"clock", "advance"}, exitUsage, "", "arg"},
		{"clock of nobody", []string{"clock", "show", "--admin=127.0.0.1:1"}, exitUnreachable, "", "no mayfly answers"},
		{"check of nothing", []string{"check", "--data=" + filepath.Join(t.TempDir(), "none")}, exitFailed, "",
			"no database"},
		{"port in use or forbidden", []string{"--memory", "--nosql=192.0.2.1:1", "--admin="}, exitFailed, "",
			"cannot listen on 192.0.2.1:1 for the NoSQL API: give it another address, or none"},
	}
	getenv := func(name string) (string, bool) {
		if name == "MAYFLY_MONGO" {
			return "127.0.0.1:0", true // its default port may be another program's
		}
		return "", false
	}
	for _, c := range cases {
		var out, err bytes.Buffer
		code := run(command{args: c.args, out: &out, err: &err, getenv: getenv, environ: func() []string {
			return nil
		}})
		if code != c.code || !strings.Contains(out.String(), c.out) || !strings.Contains(err.String(), c.err) {
			t.Errorf("%s: exit %d, want %d with %q and %q\nstdout: %s\nstderr: %s", c.name, code, c.code, c.out, c.err,
				out.String(), err.String())
		}
		if strings.Contains(err.String(), node.WellKnownKey) {
			t.Errorf("%s: a key is printed", c.name)
		}
	}
	if made, err := os.ReadDir(filepath.Join(empty, "db")); len(made) > 0 || err != nil {
		t.Errorf("check made %v, error %v", made, err)
	}
}
