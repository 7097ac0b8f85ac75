package rest

import "testing"

func TestAccountName(t *testing.T) {
	for host, want := range map[string]string{
		"localhost:8081":             "localhost",
		"localhost":                  "localhost",
		"acme.documents.example:443": "acme",
		"127.0.0.1:8081":             "mayfly",
		"[::1]:8081":                 "mayfly",
		"[::1]":                      "mayfly",
		"[fe80::1%25eth0]:8081":      "mayfly",
		"":                           "mayfly",
		":8081":                      "mayfly",
	} {
		if got := accountName(host); got != want {
			t.Errorf("%q: got %q, want %q", host, got, want)
		}
	}
}
