package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.yaml.in/yaml/v2"
)

// scrape reads the metrics of a mayfly that has had some requests, by name, those of a histogram
// with each of its endings.
func scrape(t *testing.T) map[string]bool {
	t.Helper()
	s := serve(t, "--data", t.TempDir(), "--nosql=127.0.0.1:0", "--nosql-tls=off", "--admin=127.0.0.1:0")
	defer s.stop(t, os.Interrupt)
	fetch(t, s.address(t, "NoSQL")+"dbs") // without credentials: 401
	client, err := mongo.Connect(options.Client().ApplyURI(s.mongo(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(t.Context())
	c := client.Database("d").Collection("c")
	if _, err := c.Indexes().CreateOne(t.Context(),
		mongo.IndexModel{Keys: bson.D{{Key: "_ts", Value: 1}},
			Options: options.Index().SetExpireAfterSeconds(600)}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}, {Key: "ttl", Value: 3_600_000}}); err != nil {
		t.Fatal(err)
	}
	code, text := fetch(t, s.address(t, "Admin")+"metrics")
	if code != http.StatusOK {
		t.Fatalf("%d %s", code, text)
	}
	for _, want := range []string{
		`mayfly_requests_total{api="nosql",operation="ReadFeedDatabase",status="401"} 1`,
		`mayfly_requests_total{api="mongo",operation="insert",status="OK"} 1`,
		`mayfly_request_duration_seconds_count{api="mongo",operation="insert"} 1`,
		`mayfly_documents 1`, `mayfly_containers 1`, `mayfly_storage_refusing_writes 0`, `mayfly_clock_virtual 0`,
		`mayfly_requests_in_flight{api="nosql"} 0`, `mayfly_lifetime_hints_total{kind="milliseconds"} 1`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z_]+)[{ ]`).FindAllStringSubmatch(text, -1) {
		names[m[1]] = true
	}
	if t.Failed() {
		t.Log(text)
	}
	return names
}

// mongo is the connection string of the start block.
func (s *server) mongo(t *testing.T) string {
	t.Helper()
	uri := regexp.MustCompile(`mongodb://\S+`).FindString(s.block)
	if uri == "" {
		t.Fatalf("no MongoDB in\n%s", s.block)
	}
	return uri
}

var named = regexp.MustCompile(`\b(?:mayfly|go|process)_[a-z_]+`)

// TestMetrics holds docs/metrics.md, the dashboard and the alert rules to what a mayfly exports.
func TestMetrics(t *testing.T) {
	there := scrape(t)
	exists := func(where, text string) {
		for _, name := range named.FindAllString(text, -1) {
			if !there[name] {
				t.Errorf("%s names %s, which is not exported", where, name)
			}
		}
	}
	for where, exprs := range map[string][]string{"deploy/grafana/mayfly.json": dashboard(t),
		"deploy/prometheus/alerts.yml": alerts(t)} {
		if len(exprs) == 0 {
			t.Errorf("%s has no expressions", where)
		}
		for _, expr := range exprs {
			if !named.MatchString(expr) && !strings.HasPrefix(expr, `up{job="mayfly"}`) {
				t.Errorf("%s: %s names no metric", where, expr)
			}
			exists(where, expr)
		}
	}
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(mayfly_[a-z_]+)` ").FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, m[1])
	}
	own := slices.DeleteFunc(slices.Sorted(maps.Keys(there)), func(name string) bool {
		return !strings.HasPrefix(name, "mayfly_")
	})
	for i, name := range own {
		own[i] = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
	}
	own = slices.Compact(own)
	slices.Sort(listed)
	if !slices.Equal(listed, own) {
		t.Errorf("docs/metrics.md lists\n%s\nexported are\n%s", strings.Join(listed, "\n"), strings.Join(own, "\n"))
	}
}

// dashboard gives the expressions of the dashboard, which Grafana can lay out.
func dashboard(t *testing.T) (exprs []string) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/grafana/mayfly.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		UID, Title    string
		SchemaVersion int
		Panels        []struct {
			ID          int
			Title, Type string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.UID == "" || d.Title == "" || d.SchemaVersion == 0 {
		t.Errorf("the dashboard has no name: %s %s %d", d.UID, d.Title, d.SchemaVersion)
	}
	ids := map[int]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.GridPos.W == 0 || p.GridPos.X+p.GridPos.W > 24 || p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("the panel %q cannot be laid out", p.Title)
		}
		ids[p.ID] = true
		for _, x := range p.Targets {
			exprs = append(exprs, x.Expr)
		}
	}
	return exprs
}

// alerts gives the expressions of the alert rules, which the scrape configuration names.
func alerts(t *testing.T) (exprs []string) {
	t.Helper()
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	var config struct {
		RuleFiles     []string `yaml:"rule_files"`
		ScrapeConfigs []struct {
			JobName       string `yaml:"job_name"`
			Interval      string `yaml:"scrape_interval"`
			Authorization struct {
				File string `yaml:"credentials_file"`
			}
			Static []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	for name, into := range map[string]any{"alerts.yml": &rules, "prometheus.yml": &config} {
		text, err := os.ReadFile(filepath.Join("../../deploy/prometheus", name))
		if err == nil {
			err = yaml.UnmarshalStrict(text, into)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if len(config.ScrapeConfigs) != 1 || config.ScrapeConfigs[0].JobName != "mayfly" ||
		!slices.Contains(config.RuleFiles, "alerts.yml") {
		t.Errorf("the scrape configuration is %+v", config)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || r.For == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" {
				t.Errorf("an incomplete alert: %+v", r)
			}
			exprs = append(exprs, r.Expr)
		}
	}
	return exprs
}

// TestMetricsWantTheKey scrapes an address that other machines reach.
func TestMetricsWantTheKey(t *testing.T) {
	key := strings.Repeat("A", 86) + "=="
	s := serve(t, "--memory", "--nosql=", "--mongo=", "--admin=0.0.0.0:0", "--key", key)
	defer s.stop(t, os.Interrupt)
	url := s.address(t, "Admin") + "metrics"
	if code, body := fetch(t, url); code != http.StatusUnauthorized || strings.Contains(body, "mayfly_") {
		t.Errorf("without the key: %d %s", code, body)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("with the key: %d", response.StatusCode)
	}
}
