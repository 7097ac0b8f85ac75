package rest

import "testing"

// offerOf finds an offer as SDKs do, by offerResourceId.
func offerOf(t *testing.T, d *testAPI, owner string) map[string]any {
	t.Helper()
	for _, row := range d.do("GET", "/offers", "").want(200).rows("Offers") {
		if o := row.(map[string]any); o["offerResourceId"] == owner {
			return o
		}
	}
	return nil
}

func TestOffersOfContainers(t *testing.T) {
	for _, c := range []struct {
		name    string
		db      []string // headers of the database
		headers []string
		status  int
		want    float64 // throughput, 0 for no offer of its own
		most    float64 // autopilot
	}{
		{"nothing said", nil, nil, 201, 400, 0},
		{"manual", nil, []string{"x-ms-offer-throughput", "500"}, 201, 500, 0},
		{"autopilot", nil, []string{"x-ms-cosmos-offer-autopilot-settings", `{"maxThroughput":5000}`}, 201, 500, 5000},
		{"shared", []string{"x-ms-offer-throughput", "400"}, nil, 201, 0, 0},
		{"own beside shared", []string{"x-ms-offer-throughput", "400"}, []string{"x-ms-offer-throughput", "600"}, 201,
			600, 0},
		{"too little", nil, []string{"x-ms-offer-throughput", "300"}, 400, 0, 0},
		{"nothing at all", nil, []string{"x-ms-offer-throughput", "0"}, 400, 0, 0},
		{"too much", nil, []string{"x-ms-offer-throughput", "1000100"}, 400, 0, 0},
		{"odd", nil, []string{"x-ms-offer-throughput", "450"}, 400, 0, 0},
		{"no number", nil, []string{"x-ms-offer-throughput", "much"}, 400, 0, 0},
		{"autopilot too low", nil, []string{"x-ms-cosmos-offer-autopilot-settings", `{"maxThroughput":900}`}, 400, 0,
			0},
		{"autopilot odd", nil, []string{"x-ms-cosmos-offer-autopilot-settings", `{"maxThroughput":4500}`}, 400, 0, 0},
		{"autopilot that is no JSON", nil, []string{"x-ms-cosmos-offer-autopilot-settings", `4000`}, 400, 0, 0},
		{"both", nil, []string{"x-ms-offer-throughput", "400", "x-ms-cosmos-offer-autopilot-settings",
			`{"maxThroughput":4000}`}, 400, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newTestAPI(t)
			d.do("POST", "/dbs", `{"id":"d"}`, c.db...).want(201)
			made := d.do("POST", "/dbs/d/colls", `{"id":"c",`+pk+`}`, c.headers...).want(c.status)
			if c.status != 201 {
				return
			}
			offer := offerOf(t, d, made.str("_rid"))
			if (offer == nil) != (c.want == 0) {
				t.Fatalf("the offer is %v", offer)
			}
			if offer == nil {
				return
			}
			content := offer["content"].(map[string]any)
			settings, _ := content["offerAutopilotSettings"].(map[string]any)
			if content["offerThroughput"] != c.want || (c.most != 0) != (settings != nil) || settings != nil &&
				settings["maxThroughput"] != c.most {
				t.Errorf("the content is %v", content)
			}
			if offer["resource"] != made.str("_self") || offer["id"] != offer["_rid"] || offer["offerVersion"] != "V2" {
				t.Errorf("the offer is %v", offer)
			}
		})
	}
}

func TestReplaceOffer(t *testing.T) {
	d, made := withContainer(t, "")
	target := "/" + offerOf(t, d, made.str("_rid"))["_self"].(string)
	read := d.do("GET", target, "").want(200)
	if read.header.Get("x-ms-offer-replace-pending") != "false" ||
		read.header.Get("x-ms-cosmos-min-throughput") != "400" {
		t.Errorf("the headers are %v", read.header)
	}
	id := read.str("id")
	put := func(body string, headers ...string) answer { t.Helper(); return d.do("PUT", target, body, headers...) }
	same := `{"id":"` + id + `","_rid":"` + id + `","offerResourceId":"` + made.str("_rid") + `","content":`
	put(same + `{"offerThroughput":600}}`).want(200).says(`"offerThroughput":600`)
	put(same + `{"offerThroughput":601}}`).want(400)
	put(same + `{}}`).want(400)
	put(`{"id":"` + id + `","_rid":"` + id + `"}`).want(400).says("The required field Content is missing in Offer " +
		"version v2.")
	put(`{}`).want(400)
	put(`{"id":"other","content":{"offerThroughput":600}}`).want(400)
	put(`{"offerResourceId":"other","content":{"offerThroughput":600}}`).want(400)
	put(`{"id":null,"_rid":"` + id + `","content":{"offerThroughput":700}}`).want(400).says("'id; ' - are missing")
	put(`{"id":"` + id + `","_rid":null,"content":{"offerThroughput":700}}`).want(400).says("'_rid; ' - are missing")
	put(`{"content":{"offerThroughput":700}}`).want(400).says("'id; _rid; ' - are missing")
	put(same+`{"offerThroughput":700}}`, "If-Match", read.str("_etag")).want(412)
	for _, malformed := range []string{"x", "no-rid-at-all", "AAAA", made.str("_rid")} {
		d.do("GET", "/offers/"+malformed,
			"").want(400).says("Failed to parse the value '" + malformed + "' as ResourceId.")
		d.do("PUT", "/offers/"+malformed, same+`{"offerThroughput":700}}`).want(400)
	}
	d.do("GET", "/offers/none", "").want(404)
	d.do("DELETE", "/dbs/d/colls/c", "").want(204)
	d.do("GET", target, "").want(404)
}

func TestOfferOfDatabase(t *testing.T) {
	d := newTestAPI(t)
	made := d.do("POST", "/dbs", `{"id":"d"}`, "x-ms-offer-throughput", "400").want(201)
	if o := offerOf(t, d, made.str("_rid")); o == nil || o["resource"] != made.str("_self") {
		t.Errorf("the offer is %v", o)
	}
	plain := d.do("POST", "/dbs", `{"id":"e"}`).want(201)
	if o := offerOf(t, d, plain.str("_rid")); o != nil {
		t.Errorf("there is an offer: %v", o)
	}
}

// A switch of modes ignores the client's throughput: cosmos-explorer sends no settings or a maximum of 0
// (Azure/cosmos-explorer: src/Common/dataAccess/updateOffer.ts), others send the offer as they have read it.
func TestOfferChangesItsMode(t *testing.T) {
	const toAutopilot, toManual = "x-ms-cosmos-migrate-offer-to-autopilot",
		"x-ms-cosmos-migrate-offer-to-manual-throughput"
	manual := []string{"x-ms-offer-throughput", "4500"}
	auto := []string{"x-ms-cosmos-offer-autopilot-settings",
		`{"maxThroughput":6000,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":5}}}`}
	for _, c := range []struct {
		name    string
		made    []string
		content string
		headers []string
		status  int
		want    float64 // throughput
		most    float64 // autopilot, 0 for manual
		ever    float64
		says    string
	}{
		{"to autopilot", manual, `{"offerThroughput":4500}`, []string{toAutopilot, "true"}, 200, 500, 5000, 5000, ""},
		{"to autopilot from little", nil, `{"offerThroughput":400}`, []string{toAutopilot, "true"}, 200, 100, 1000,
			1000, ""},
		{"to autopilot without a throughput", manual, `{}`, []string{toAutopilot, "True"}, 200, 500, 5000, 5000, ""},
		{"to autopilot with settings of nothing", manual, `{"offerAutopilotSettings":{}}`, []string{toAutopilot,
			"true"}, 200, 500, 5000, 5000, ""},
		{"to autopilot with a maximum of 0", manual, `{"offerAutopilotSettings":{"maxThroughput":0}}`,
			[]string{toAutopilot, "true"}, 200, 500, 5000, 5000, ""},
		{"to autopilot with a maximum of -1", manual, `{"offerAutopilotSettings":{"maxThroughput":-1}}`,
			[]string{toAutopilot, "true"}, 200, 500, 5000, 5000, ""},
		{"to autopilot with a maximum", manual, `{"offerAutopilotSettings":{"maxThroughput":8000}}`,
			[]string{toAutopilot, "true"}, 400, 4500, 0, 4500, "offercontent must not contain autopilotSettings"},
		{"a maximum without the header", manual, `{"offerAutopilotSettings":{"maxThroughput":8000}}`, nil, 400, 4500,
			0, 4500, "x-ms-cosmos-migrate-offer-to-autopilot must be supplied"},
		{"a maximum and a false header", manual, `{"offerAutopilotSettings":{"maxThroughput":8000}}`,
			[]string{toAutopilot, "false"}, 400, 4500, 0, 4500, "must be supplied"},
		{"manual and a false header", manual, `{"offerThroughput":5000}`, []string{toAutopilot, "false"}, 200, 5000,
			0, 5000, ""},
		{"manual already", manual, `{"offerThroughput":5000}`, []string{toManual, "true"}, 200, 5000, 0, 5000, ""},
		{"manual already, as it is", manual, `{"offerAutopilotSettings":{"maxThroughput":0}}`, []string{toManual,
			"true"}, 200, 4500, 0, 4500, ""},

		{"to manual", auto, `{"offerThroughput":600,"offerAutopilotSettings":{"maxThroughput":6000}}`,
			[]string{toManual, "true"}, 200, 6000, 0, 6000, ""},
		{"to manual with a maximum of 0", auto,
			`{"offerThroughput":700,"offerAutopilotSettings":{"maxThroughput":0}}`, []string{toManual, "true"}, 200,
			6000, 0, 6000, ""},
		{"to manual with a maximum of -1", auto, `{"offerAutopilotSettings":{"maxThroughput":-1}}`, []string{toManual,
			"true"}, 200, 6000, 0, 6000, ""},
		{"to manual without settings", auto, `{"offerThroughput":700}`, []string{toManual, "true"}, 200, 6000, 0,
			6000, ""},
		{"a throughput without the header", auto, `{"offerThroughput":700}`, nil, 400, 600, 6000, 6000,
			"x-ms-cosmos-migrate-offer-to-manual-throughput must be supplied"},
		{"another maximum", auto, `{"offerThroughput":600,"offerAutopilotSettings":{"maxThroughput":2000}}`, nil, 200,
			200, 2000, 6000, ""},
		{"autopilot already", auto, `{"offerThroughput":600}`, []string{toAutopilot, "true"}, 200, 600, 6000, 6000, ""},
		{"autopilot already, another maximum", auto, `{"offerAutopilotSettings":{"maxThroughput":7000}}`,
			[]string{toAutopilot, "true"}, 200, 700, 7000, 7000, ""},

		{"to both", manual, `{"offerThroughput":4500}`, []string{toAutopilot, "true", toManual, "true"}, 400, 4500, 0,
			4500, "at once"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newTestAPI(t)
			d.do("POST", "/dbs", `{"id":"d"}`).want(201)
			made := d.do("POST", "/dbs/d/colls", `{"id":"c",`+pk+`}`, c.made...).want(201)
			offer := offerOf(t, d, made.str("_rid"))
			target := "/" + offer["_self"].(string)
			id := offer["id"].(string)
			body := `{"id":"` + id + `","_rid":"` + id + `","offerVersion":"V2","content":` + c.content + `}`
			d.do("PUT", target, body, c.headers...).want(c.status).says(c.says)
			content := d.do("GET", target, "").want(200).body["content"].(map[string]any)
			settings, _ := content["offerAutopilotSettings"].(map[string]any)
			least := content["offerMinimumThroughputParameters"].(map[string]any)
			if content["offerThroughput"] != c.want || (c.most != 0) != (settings != nil) || settings != nil &&
				settings["maxThroughput"] != c.most ||
				least["maxThroughputEverProvisioned"] != c.ever {
				t.Errorf("the content is %v", content)
			}
		})
	}
}
