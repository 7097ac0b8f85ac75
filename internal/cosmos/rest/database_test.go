package rest

import (
	"fmt"
	"testing"
)

func TestDatabases(t *testing.T) {
	d := newTestAPI(t)
	made := d.do("POST", "/dbs", `{"id":"d","extra":1}`).want(201)
	if made.header.Get("etag") != made.str("_etag") || made.str("_self") != "dbs/"+made.str("_rid")+"/" {
		t.Errorf("got %s with %v", made.text, made.header)
	}
	if made.text != d.do("GET", "/dbs/d", "").want(200).text || made.text != d.do("GET", "/dbs/"+made.str("_rid")+
		"/", "").want(200).text {
		t.Error("a database reads differently by name and by RID")
	}
	d.do("POST", "/dbs", `{"id":"d"}`).want(409)
	d.do("POST", "/dbs", `{"id":"a/b"}`).want(400)
	d.do("GET", "/dbs/x", "").want(404).says(`"code":"NotFound"`)
	d.do("GET", "/dbs/d", "", "If-None-Match", made.str("_etag")).want(304)
	d.do("GET", "/dbs/d", "", "If-None-Match", `"other"`).want(200)
	d.do("DELETE", "/dbs/d", "", "If-Match", `"other"`).want(412)
	gone := d.do("DELETE", "/dbs/d", "", "If-Match", made.str("_etag")).want(204)
	if gone.text != "" || gone.header.Get("Content-Length") != "" {
		t.Errorf("the answer to a delete is %q with %v", gone.text, gone.header)
	}
	d.do("DELETE", "/dbs/d", "").want(404)
	if a := d.do("GET", "/dbs/d/colls", "").want(404); a.header.Get("x-ms-substatus") != "1003" {
		t.Errorf("a missing owner has the substatus %s", a.header.Get("x-ms-substatus"))
	}
}

// A name that looks like the RID of another database is still a name.
func TestNameBeatsRID(t *testing.T) {
	d := newTestAPI(t)
	first := d.do("POST", "/dbs", `{"id":"first"}`).want(201).str("_rid")
	d.do("POST", "/dbs", `{"id":"`+first+`"}`).want(201)
	if got := d.do("GET", "/dbs/"+first, "").want(200).str("id"); got != first {
		t.Errorf("the name leads to %s", got)
	}
}

func TestSmallFeedsPage(t *testing.T) {
	d := newTestAPI(t)
	for i := range 7 {
		d.do("POST", "/dbs", fmt.Sprintf(`{"id":"d%d"}`, i)).want(201)
	}
	var ids []string
	for token := ""; ; {
		headers := []string{"x-ms-max-item-count", "3"}
		if token != "" {
			headers = append(headers, "x-ms-continuation", token)
		}
		a := d.do("GET", "/dbs", "", headers...).want(200)
		rows := a.rows("Databases")
		if a.header.Get("x-ms-item-count") != fmt.Sprint(len(rows)) || a.body["_count"] != float64(len(rows)) {
			t.Errorf("the count is wrong: %s", a.text)
		}
		for _, row := range rows {
			ids = append(ids, row.(map[string]any)["id"].(string))
		}
		if token == "" {
			d.do("DELETE", "/dbs/d2", "").want(204) // the last one of the first page
		}
		if token = a.header.Get("x-ms-continuation"); token == "" {
			break
		}
	}
	if got := fmt.Sprint(ids); got != "[d0 d1 d2 d3 d4 d5 d6]" {
		t.Errorf("got %s", got)
	}
	for _, size := range []string{"0", "-1", "1000"} {
		if a := d.do("GET", "/dbs", "", "x-ms-max-item-count", size).want(200); len(a.rows("Databases")) != 6 {
			t.Errorf("a page of %s has %s", size, a.text)
		}
	}
	d.do("GET", "/dbs", "", "x-ms-max-item-count", "many").want(400).says("x-ms-max-item-count")
	d.do("GET", "/dbs", "", "x-ms-max-item-count", "-2").want(400)
	d.do("GET", "/dbs", "", "x-ms-continuation", "nonsense").want(400).says("Invalid Continuation Token")
	d.do("GET", "/dbs", "", "x-ms-continuation", "after:-1").want(400)
}

func TestNameThatIsNoString(t *testing.T) {
	newTestAPI(t).do("POST", "/dbs", `{"id":7}`).want(400).says("The input name '7' is invalid. Ensure to provide a " +
		"unique non-empty string less than '255' characters. The id must be a string")
}
