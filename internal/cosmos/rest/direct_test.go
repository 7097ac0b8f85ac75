package rest

import "testing"

// Clients in direct mode ask for replicas first. The error must say what to configure, with a status that they do not
// retry on.
func TestDirectModeIsToldToUseTheGateway(t *testing.T) {
	d := newTestAPI(t)
	for name, target := range map[string]string{
		".NET and Java": "//addresses/?$resolveFor=dbs%2fAQAAAA%3d%3d%2fcolls%2fAQAAAIAAAAE%3d%2fdocs&$filter=protocol%20eq%20rntbd&$partitionKeyRangeIds=0",
		"master":        "/addresses/?$resolveFor=dbs&$filter=protocol%20eq%20rntbd",
		"below":         "/addresses/x/y",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRequest("GET", "/", "", "Authorization", "type%3dmaster%26ver%3d1.0%26sig%3dx")
			u, err := r.URL.Parse("http://example.com" + target)
			must(t, err)
			r.URL = u
			d.send(r).want(400).says("ConnectionMode.Gateway").says("gatewayMode()")
		})
	}
}
