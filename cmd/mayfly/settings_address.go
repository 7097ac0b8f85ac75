package main

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// address is a place to listen, host:port; empty is none.
func address(field func(*config) *string) func(*config, string) error {
	return func(c *config, value string) error {
		if value != "" && !hostPort(value) {
			return fmt.Errorf("%q is not host:port", value)
		}
		*field(c) = value
		return nil
	}
}

// adminAddress may also be the door's URL, as the start block shows it.
func adminAddress(c *config, value string) error {
	if rest, ok := strings.CutPrefix(value, "http://"); ok {
		value = strings.TrimSuffix(rest, "/")
	}
	return address(func(c *config) *string { return &c.node.Admin })(c, value)
}

// hostPort reports whether value has the form host:port; which hosts there are
// is for the machine to say.
func hostPort(value string) bool {
	host, port, err := net.SplitHostPort(value)
	if err != nil || strings.ContainsAny(host, "/ \t") {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == port
}

// callable is where to call a door that listens on address.
func callable(address string) string {
	host, port, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// everywhere says in words at which addresses of this machine a door is.
func everywhere(address string) string {
	host, port, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return "port " + port + " of every address of this one"
	}
	return address
}

// parseAdvertise takes the URL of an account: clients append paths to it.
func parseAdvertise(c *config, value string) error {
	c.node.Advertise = value
	if value == "" {
		return nil
	}
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return fmt.Errorf("not an http or https URL")
	case u.User != nil:
		return fmt.Errorf("a URL with a user is not an endpoint")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(value, "#"):
		return fmt.Errorf("an endpoint cannot have a query or fragment")
	}
	return nil
}

// parseMongoAdvertise takes an address that clients can go to.
func parseMongoAdvertise(c *config, value string) error {
	host, port, _ := net.SplitHostPort(value)
	if ip := net.ParseIP(host); value != "" && (!hostPort(value) || host == "" || port == "0" || ip.IsUnspecified()) {
		return fmt.Errorf("%q is not an address that clients can go to, such as db.example:27017", value)
	}
	c.node.Mongo.Advertise = value
	return nil
}
