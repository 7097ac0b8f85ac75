package main

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/node"
	"github.com/mayflydb/mayfly/internal/otlp"
)

// sources explains the three places that a setting may come from.
const sources = `Every flag is also an environment variable, MAYFLY_ and its name in capitals with _ for -,
and a line "name = value" of the file that --config names. A flag overrides the environment,
which overrides the file. An empty environment variable counts as not set.`

// config holds the values of all settings.
type config struct {
	data        string
	memory      bool
	cluster     string     // address of the engine, empty for one in this process
	clusterTLS  clusterTLS // files
	noSync      bool
	reserve     int64
	memoryLimit int64
	node        node.Options
	traceURL    string
	traceRatio  float64
	adminTLS    bool // of a server that is asked
	logJSON     bool
	logLevel    slog.Level
	configFile  string
}

// A setting can be given by flag, environment variable and configuration file.
type setting struct {
	name  string
	kind  string // of value, for the help
	value string // the default
	bare  string // the value of the flag without one, for a switch; "" makes that an error
	help  string
	parse func(c *config, value string) error
}

// settings lists all settings, in the order of the help.
var settings = []setting{
	{name: "config", kind: "FILE",
		help:  "file of settings, with lines of name = value",
		parse: text(func(c *config) *string { return &c.configFile })},
	{name: "data", kind: "DIR", value: "./mayfly-data",
		help:  "folder of the data",
		parse: nonempty(func(c *config) *string { return &c.data })},
	{name: "memory", kind: "bool", value: "false", bare: "true",
		help:  "keep all data in memory",
		parse: onOff(func(c *config, on bool) { c.memory = on })},
	{name: "engine", kind: "ADDR",
		help: "keep the data in a TiKV cluster, which several mayfly may share, at " +
			"tikv://PD:2379[,PD:2379…][/PREFIX]; experimental (default: in the data folder)",
		parse: parseEngine},
	{name: "engine-tls", kind: "CA,CERT,KEY",
		help: "three PEM files for TLS to the cluster: the authority of its certificates, and the certificate of " +
			"this process with its key (default: no TLS)",
		parse: parseEngineTLS},
	{name: "emulator", kind: "bool", value: "false", bare: "true",
		help: "for development: behave as people expect of an emulator, with the well-known key, and MongoDB " +
			"without passwords, on every address",
		parse: onOff(func(c *config, on bool) { c.node.Emulator = on })},
	{name: "seed", kind: "DIR",
		help: "folder of containers to make and fill at the start if they do not exist yet: DATABASE/CONTAINER.json " +
			"for the definition, DATABASE/CONTAINER.jsonl for documents (default: none)",
		parse: text(func(c *config) *string { return &c.node.Seed })},
	{name: "nosql", kind: "ADDR", value: "127.0.0.1:8081",
		help:  "address of the API for Azure Cosmos DB for NoSQL, empty for none",
		parse: address(func(c *config) *string { return &c.node.NoSQL })},
	{name: "nosql-tls", kind: "auto|off|CERT,KEY", value: "auto",
		help:  "auto: a certificate of its own, and plain http on the same port; or two PEM files",
		parse: parseTLS},
	{name: "nosql-compute", kind: "ADDR",
		help: "second address of the API for NoSQL, which accepts every id, as the service's compute gateway does; " +
			"the first address then refuses some ids, as its routing gateway does",
		parse: address(func(c *config) *string { return &c.node.Compute })},
	{name: "nosql-cors", kind: "ORIGINS",
		help: "web origins whose pages may use the API for NoSQL from a browser, separated by commas, or * for all " +
			"(default: none)",
		parse: parseOrigins},
	{name: "cross-partition", kind: "serve|strict", value: "serve",
		help: "strict: leave queries that need the rows of several partitions merged to the client, as the service " +
			"does",
		parse: choice([]string{"serve", "strict"}, func(c *config, mode string) { c.node.Strict = mode == "strict" })},
	{name: "partitions", kind: "N", value: "1",
		help: "ranges of partition keys that a new container of the API for NoSQL has, from 1 to 256, unless the " +
			"request says how many; with --engine the default is 8",
		parse: parsePartitions},
	{name: "mongo", kind: "ADDR", value: "127.0.0.1:27017",
		help:  "address of the API for MongoDB, empty for none",
		parse: address(func(c *config) *string { return &c.node.Mongo.Address })},
	{name: "mongo-auth", kind: "on|off",
		help: "whether MongoDB clients have to authenticate: as any user with the account key as password, or as a " +
			"user that was created (default: on, unless the address is loopback)",
		parse: mongoAuth},
	{name: "mongo-replset", kind: "NAME", value: node.ReplSet,
		help: "name of the replica set, which has one member; empty for a stand-alone server, without transactions, " +
			"retryable writes and change streams",
		parse: text(func(c *config) *string { return &c.node.Mongo.ReplSet })},
	{name: "mongo-advertise", kind: "HOST:PORT",
		help:  "address at which MongoDB clients reach the replica set (default: see docs/mongo.md)",
		parse: parseMongoAdvertise},
	{name: "mongo-ttl", kind: "both|cosmos", value: "both",
		help: "cosmos: lifetimes on _ts only, as in Azure; both: on date fields too",
		parse: choice(
			[]string{"both", "cosmos"},
			func(c *config, mode string) { c.node.Mongo.CosmosTTL = mode == "cosmos" },
		)},
	{name: "mongo-test-commands", kind: "bool", value: "false", bare: "true",
		help:  "allow configureFailPoint, for test suites of drivers",
		parse: onOff(func(c *config, on bool) { c.node.Mongo.TestCommands = on })},
	{name: "admin", kind: "ADDR", value: "127.0.0.1:8080",
		help:  "address of the admin API: health, metrics, clock and reclaiming; empty for none",
		parse: adminAddress},
	{name: "key", kind: "KEY",
		help: "account key in base64 (default: the well-known emulator key on a loopback address, else mayfly makes " +
			"one)",
		parse: text(func(c *config) *string { return &c.node.Key })},
	{name: "allow-well-known-key", kind: "bool", value: "false", bare: "true",
		help:  "allow the well-known key on every address",
		parse: onOff(func(c *config, on bool) { c.node.AllowWellKnownKey = on })},
	{name: "allow-host", kind: "NAMES",
		help: "further host names by which HTTP requests may address mayfly, separated by commas; *.name for all " +
			"names below it, * for every name (default: none)",
		parse: parseHosts},
	{name: "clock", kind: "real|virtual[=TIME]", value: "real",
		help: "virtual: a clock that moves only on request, from TIME (RFC 3339), else from where the data stopped, " +
			"else from now",
		parse: parseClock},
	{name: "sync", kind: "on|off", value: "on",
		help:  "off: acknowledge writes before they are durable",
		parse: onOff(func(c *config, on bool) { c.noSync = !on })},
	{name: "disk-reserve", kind: "SIZE", value: "64MiB",
		help: "space on the disk that is reserved for deletes when ordinary writes have filled the rest, such as " +
			"1GiB, 0 for none",
		parse: parseReserve},
	{name: "memory-limit", kind: "SIZE",
		help: "the most memory that the process uses, such as 2GiB, 0 for no limit (default: four fifths of the " +
			"container's limit, else half of the machine's memory)",
		parse: parseMemoryLimit},
	{name: "region", kind: "NAME", value: "South Central US",
		help:  "region of the account",
		parse: nonempty(func(c *config) *string { return &c.node.Region })},
	{name: "advertise", kind: "URL",
		help:  "endpoint of the account (default: from the Host of each request)",
		parse: parseAdvertise},
	{name: "consistency", kind: "LEVEL", value: "Session",
		help:  "default consistency level of the account: " + strings.Join(levels, ", "),
		parse: choice(levels, func(c *config, level string) { c.node.Consistency = level })},
	{name: "reclaim-rate", kind: "N", value: "0",
		help:  "expired documents to free per second at most; 0 adapts to the load",
		parse: parseRate},
	{name: "slow", kind: "DURATION",
		help:  "log requests that take at least this long, such as 100ms, with their plan (default: none)",
		parse: parseSlow},
	{name: "trace", kind: "URL",
		help: "send traces to this collector of OpenTelemetry, by OTLP over HTTP, such as http://localhost:4318 " +
			"(default: none)",
		parse: parseTrace},
	{name: "trace-ratio", kind: "RATIO", value: "1",
		help:  "the share of requests to trace, from 0 to 1, unless the client decides",
		parse: parseTraceRatio},
	{name: "log", kind: "text|json", value: "text",
		help:  "format of the log on stderr",
		parse: choice([]string{"text", "json"}, func(c *config, form string) { c.logJSON = form == "json" })},
	{name: "log-level", kind: "LEVEL", value: "info",
		help:  "debug, info, warn or error; debug has a line for each request",
		parse: parseLevel},
}

// emulated lists the settings whose default is another one with --emulator.
var emulated = map[string]string{
	"allow-well-known-key": "on",
}

// clustered lists the settings whose default is another one with --engine. A range is written through one key of the
// cluster, so several ranges take more writes at a time.
var clustered = map[string]string{
	"partitions": "8",
}

// levels of consistency, strongest first.
var levels = []string{"Strong", "BoundedStaleness", "Session", "ConsistentPrefix", "Eventual"}

// env is the setting's environment variable.
func (s setting) env() string {
	return prefix + strings.ReplaceAll(strings.ToUpper(s.name), "-", "_")
}

// addFlags adds flags to a command: --config, and those of the named settings, or of all settings if none is named.
func addFlags(cmd *cobra.Command, names ...string) {
	flags := cmd.Flags()
	flags.SortFlags = false
	for _, s := range settings {
		if flags.Lookup(s.name) != nil {
			continue
		}
		if len(names) == 0 || s.name == "config" || slices.Contains(names, s.name) {
			flags.Var(&flagValue{s.value, s.kind}, s.name, s.help)
			flags.Lookup(s.name).NoOptDefVal = s.bare
		}
	}
}

// flagValue keeps the text of a flag for later: configure parses it, or the value from the environment or the file. It
// implements pflag.Value.
type flagValue struct{ value, kind string }

func (f *flagValue) String() string     { return f.value }
func (f *flagValue) Set(s string) error { f.value = s; return nil }
func (f *flagValue) Type() string       { return f.kind }

// configure returns the values of the settings that cmd has flags for.
func (c command) configure(cmd *cobra.Command) (config, error) {
	var out config
	if c.environ != nil {
		if err := unknownVariable(c.environ()); err != nil {
			return out, err
		}
	}
	path, _ := c.given(cmd, settings[0])
	file, err := readSettings(path.value)
	if err != nil {
		return out, err
	}
	for _, s := range settings {
		if !hasSetting(cmd, s) {
			continue
		}
		v, ok := c.given(cmd, s)
		if !ok {
			v, ok = file[s.name]
		}
		if !ok {
			v = given{value: out.standard(s)}
		}
		if err := s.parse(&out, v.value); err != nil {
			return out, fmt.Errorf("%s: %w", v.source, err)
		}
	}
	if f := cmd.Flags().Lookup("data"); out.memory && f.Changed {
		return out, fmt.Errorf("--data and --memory exclude each other: leave one of them out")
	}
	if err := c.checkEngine(cmd, out, file); err != nil {
		return out, err
	}
	if m := out.node.Mongo; m.Advertise != "" && m.ReplSet == "" {
		return out, fmt.Errorf("--mongo-advertise is the address of a replica set, and --mongo-replset is empty: " +
			"leave one of them out")
	}
	return out, nil
}

// standard is the value of a setting that nobody has given, after the settings before it.
func (c config) standard(s setting) string {
	if value, other := emulated[s.name]; other && c.node.Emulator {
		return value
	}
	if value, other := clustered[s.name]; other && c.cluster != "" {
		return value
	}
	return s.value
}

// hasSetting reports whether a command has the flag of a setting. A flag of its own may have the same name, such as
// --mongo of query.
func hasSetting(cmd *cobra.Command, s setting) bool {
	f := cmd.Flags().Lookup(s.name)
	if f == nil {
		return false
	}
	_, ok := f.Value.(*flagValue)
	return ok
}

// given is the value of a setting, and the place that it comes from.
type given struct{ value, source string }

// given looks up a setting among the flags, then in the environment.
func (c command) given(cmd *cobra.Command, s setting) (given, bool) {
	if f := cmd.Flags().Lookup(s.name); f != nil && f.Changed {
		return given{f.Value.String(), "--" + s.name}, true
	}
	value, _ := c.getenv(s.env())
	return given{value, s.env()}, value != ""
}

func text(field func(*config) *string) func(*config, string) error {
	return func(c *config, value string) error {
		*field(c) = value
		return nil
	}
}

func nonempty(field func(*config) *string) func(*config, string) error {
	return func(c *config, value string) error {
		if value == "" {
			return fmt.Errorf("must not be empty")
		}
		*field(c) = value
		return nil
	}
}

func onOff(set func(c *config, on bool)) func(*config, string) error {
	return func(c *config, value string) error {
		switch strings.ToLower(value) {
		case "on", "true", "1", "yes":
			set(c, true)
		case "off", "false", "0", "no":
			set(c, false)
		default:
			return fmt.Errorf("%q is neither on nor off", value)
		}
		return nil
	}
}

func choice(among []string, set func(c *config, value string)) func(*config, string) error {
	return func(c *config, value string) error {
		for _, a := range among {
			if strings.EqualFold(a, value) {
				set(c, a)
				return nil
			}
		}
		return fmt.Errorf("%q is not one of %s", value, strings.Join(among, ", "))
	}
}

func parseTLS(c *config, value string) error {
	switch value {
	case "auto":
		c.node.TLS = node.TLS{}
		return nil
	case "off":
		c.node.TLS = node.TLS{Off: true}
		return nil
	}
	cert, key, ok := strings.Cut(value, ",")
	if !ok || cert == "" || key == "" {
		return fmt.Errorf("%q is not auto, off or two files CERT.pem,KEY.pem", value)
	}
	c.node.TLS = node.TLS{Cert: cert, Key: key}
	return nil
}

func mongoAuth(c *config, value string) error {
	c.node.Mongo.Auth = ""
	if value == "" {
		return nil
	}
	return onOff(func(c *config, on bool) {
		c.node.Mongo.Auth = map[bool]string{true: "on", false: "off"}[on]
	})(c, value)
}

func parseClock(c *config, value string) (err error) {
	kind, start, hasStart := strings.Cut(value, "=")
	c.node.Virtual = kind == "virtual"
	if kind != "virtual" && (kind != "real" || hasStart) {
		return fmt.Errorf("%q is not real, virtual or virtual=TIME", value)
	}
	if !hasStart {
		return nil
	}
	if c.node.VirtualStart, err = clock.ParseTime(start); err != nil {
		return err
	}
	return clock.InRange(c.node.VirtualStart)
}

// units are the units of sizes.
var units = map[string]int64{
	"": 1, "B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
	"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
}

// parseSize reads a number of bytes.
func parseSize(value string) (int64, error) {
	digits := strings.TrimRight(value, "KMGTBkmgtbi")
	unit, ok := units[strings.ToUpper(strings.TrimPrefix(value, digits))]
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%q is not a size: give a number of bytes, or a number with KiB, MiB, GiB or TiB", value)
	}
	return n * unit, nil
}

func parseReserve(c *config, value string) (err error) {
	c.reserve, err = parseSize(value)
	return err
}

// parseMemoryLimit leaves the choice to the machine if no limit is given.
func parseMemoryLimit(c *config, value string) (err error) {
	c.memoryLimit = chosenByMachine
	if value == "" {
		return nil
	}
	if c.memoryLimit, err = parseSize(value); err != nil {
		return err
	}
	if c.memoryLimit != 0 && c.memoryLimit < leastMemory {
		return fmt.Errorf("%q is too little: mayfly needs at least %d MiB", value, leastMemory>>20)
	}
	return nil
}

func parseRate(c *config, value string) error {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is not a number of documents per second, 0 or more", value)
	}
	c.node.ReclaimRate = int(n)
	return nil
}

func parsePartitions(c *config, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > node.MaxPartitions {
		return fmt.Errorf("%q is not a number of ranges from 1 to %d", value, node.MaxPartitions)
	}
	c.node.Partitions = n
	return nil
}

func parseSlow(c *config, value string) error {
	if value == "" {
		return nil
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a duration such as 100ms or 2s; 0 logs no request as slow", value)
	}
	c.node.Slow = d
	return nil
}

func parseTrace(c *config, value string) error {
	if value == "" {
		return nil
	}
	c.traceURL = value
	return otlp.CheckURL(value)
}

func parseTraceRatio(c *config, value string) (err error) {
	c.traceRatio, err = strconv.ParseFloat(value, 64)
	if err != nil || !(c.traceRatio >= 0 && c.traceRatio <= 1) { // NaN is neither
		return fmt.Errorf("%q is not a number from 0 to 1, such as 0.01", value)
	}
	return nil
}

func parseLevel(c *config, value string) error {
	if err := c.logLevel.UnmarshalText([]byte(value)); err != nil {
		return fmt.Errorf("%q is not one of debug, info, warn, error", value)
	}
	return nil
}
