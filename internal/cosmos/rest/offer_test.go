package rest

import "testing"

// offerOf finds an offer as SDKs do, by offerResourceId.
func offerOf(t *testing.T, d *desk, owner string) map[string]any {
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
		{"own beside shared", []string{"x-ms-offer-throughput", "400"}, []string{"x-ms-offer-throughput", "600"}, 201, 600, 0},
		{"too little", nil, []string{"x-ms-offer-throughput", "300"}, 400, 0, 0},
		{"nothing at all", nil, []string{"x-ms-offer-throughput", "0"}, 400, 0, 0},
		{"too much", nil, []string{"x-ms-offer-throughput", "1000100"}, 400, 0, 0},
		{"odd", nil, []string{"x-ms-offer-throughput", "450"}, 400, 0, 0},
		{"no number", nil, []string{"x-ms-offer-throughput", "much"}, 400, 0, 0},
		{"autopilot too low", nil, []string{"x-ms-cosmos-offer-autopilot-settings", `{"maxThroughput":900}`}, 400, 0, 0},
		{"autopilot odd", nil, []string{"x-ms-cosmos-offer-autopilot-settings", `{"maxThroughput":4500}`}, 400, 0, 0},
		{"autopilot that is no JSON", nil, []string{"x-ms-cosmos-offer-autopilot-settings", `4000`}, 400, 0, 0},
		{"both", nil, []string{"x-ms-offer-throughput", "400", "x-ms-cosmos-offer-autopilot-settings", `{"maxThroughput":4000}`}, 400, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
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
			if content["offerThroughput"] != c.want || (c.most != 0) != (settings != nil) || settings != nil && settings["maxThroughput"] != c.most {
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
	if read.header.Get("x-ms-offer-replace-pending") != "false" || read.header.Get("x-ms-cosmos-min-throughput") != "400" {
		t.Errorf("the headers are %v", read.header)
	}
	id := read.str("id")
	put := func(body string, headers ...string) answer { t.Helper(); return d.do("PUT", target, body, headers...) }
	same := `{"id":"` + id + `","_rid":"` + id + `","offerResourceId":"` + made.str("_rid") + `","content":`
	put(same + `{"offerThroughput":600}}`).want(200).says(`"offerThroughput":600`)
	put(same + `{"offerAutopilotSettings":{"maxThroughput":10000,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":5}}}}}`).want(200).
		says(`"offerThroughput":1000`).says(`"incrementPercent":5`)
	put(same + `{"offerThroughput":601}}`).want(400)
	put(same + `{}}`).want(400)
	put(`{}`).want(400)
	put(`{"id":"other","content":{"offerThroughput":600}}`).want(400)
	put(`{"offerResourceId":"other","content":{"offerThroughput":600}}`).want(400)
	put(same+`{"offerThroughput":700}}`, "If-Match", read.str("_etag")).want(412)
	d.do("GET", "/offers/none", "").want(404)
	d.do("DELETE", "/dbs/d/colls/c", "").want(204)
	d.do("GET", target, "").want(404)
}

func TestOfferOfDatabase(t *testing.T) {
	d := newDesk(t)
	made := d.do("POST", "/dbs", `{"id":"d"}`, "x-ms-offer-throughput", "400").want(201)
	if o := offerOf(t, d, made.str("_rid")); o == nil || o["resource"] != made.str("_self") {
		t.Errorf("the offer is %v", o)
	}
	plain := d.do("POST", "/dbs", `{"id":"e"}`).want(201)
	if o := offerOf(t, d, plain.str("_rid")); o != nil {
		t.Errorf("there is an offer: %v", o)
	}
}
