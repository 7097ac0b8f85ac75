package store

import "bytes"

// manyClaims is how many claims are searched one after the other.
const manyClaims = 64

// A given is a claim whose owner was another one before the operation under way.
type given struct {
	at    int
	owner *slot
}

// claimOf finds the claim of a key, -1 if there is none yet.
func (t *txn) claimOf(key []byte) int {
	if t.claimed != nil {
		if i, ok := t.claimed[string(key)]; ok {
			return i
		}
		return -1
	}
	for i := range t.claims {
		if bytes.Equal(t.claims[i].key, key) {
			return i
		}
	}
	if len(t.claims) >= manyClaims {
		t.claimed = make(map[string]int, 4*manyClaims)
		for i := range t.claims {
			t.claimed[string(t.claims[i].key)] = i
		}
	}
	return -1
}

func (t *txn) addClaim(c claim) {
	if t.claimed != nil {
		t.claimed[string(c.key)] = len(t.claims)
	}
	t.claims = append(t.claims, c)
}

// give gives a claim to another owner, nil for none.
func (t *txn) give(at int, owner *slot) {
	t.given = append(t.given, given{at, t.claims[at].owner})
	t.claims[at].owner = owner
}

// undoClaims takes back what the operation under way has done to the claims. There were
// count before it.
func (t *txn) undoClaims(count int) {
	for i := len(t.given) - 1; i >= 0; i-- {
		t.claims[t.given[i].at].owner = t.given[i].owner
	}
	for _, c := range t.claims[count:] {
		delete(t.claimed, string(c.key))
	}
	t.claims = t.claims[:count]
}
