package main

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// parseOrigins parses a list of web origins. Like the service, it accepts no wildcard within a host:
// https://learn.microsoft.com/azure/cosmos-db/how-to-configure-cross-origin-resource-sharing
func parseOrigins(c *config, value string) error {
	c.node.Origins = nil
	if strings.TrimSpace(value) == "" {
		return nil
	}
	for text := range strings.SplitSeq(value, ",") {
		origin, err := parseOrigin(strings.TrimSpace(text))
		if err != nil {
			return err
		}
		c.node.Origins = append(c.node.Origins, origin)
	}
	return nil
}

// parseOrigin parses an origin into the form that browsers send: lower case, without the default port of the scheme.
func parseOrigin(text string) (string, error) {
	if text == "*" {
		return text, nil
	}
	u, err := url.Parse(strings.ToLower(strings.TrimSuffix(text, "/")))
	foreign := func(c rune) bool { return c == '*' || c >= utf8.RuneSelf } // browsers send such hosts as xn--…
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		strings.ContainsFunc(u.Host, foreign) || strings.HasSuffix(u.Host, ":") ||
		*u != (url.URL{Scheme: u.Scheme, Host: u.Host}) {
		return "", fmt.Errorf(
			"%q is not a web origin such as https://app.example or http://localhost:3000, nor *",
			text,
		)
	}
	standard := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	return u.Scheme + "://" + strings.TrimSuffix(u.Host, standard), nil
}
