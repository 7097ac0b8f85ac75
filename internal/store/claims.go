package store

import "bytes"

// manyClaims is how many claims are searched one after the other before a map is worth its memory. Most containers have
// few unique keys, and most write sets few documents.
const manyClaims = 64

// A claimChange is a claim, and its owner before the operation under way.
type claimChange struct {
	at    int
	owner *slot
}

// claimOf finds the claim of a key, -1 if there is none yet.
func (ws *writeSet) claimOf(key []byte) int {
	if ws.claimed != nil {
		if i, ok := ws.claimed[string(key)]; ok {
			return i
		}
		return -1
	}
	for i := range ws.claims {
		if bytes.Equal(ws.claims[i].key, key) {
			return i
		}
	}
	if len(ws.claims) >= manyClaims {
		ws.claimed = make(map[string]int, 4*manyClaims)
		for i := range ws.claims {
			ws.claimed[string(ws.claims[i].key)] = i
		}
	}
	return -1
}

func (ws *writeSet) addClaim(c claim) {
	if ws.claimed != nil {
		ws.claimed[string(c.key)] = len(ws.claims)
	}
	ws.claims = append(ws.claims, c)
}

// setOwner gives a claim to another owner, nil for none.
func (ws *writeSet) setOwner(at int, owner *slot) {
	ws.claimChanges = append(ws.claimChanges, claimChange{at, ws.claims[at].owner})
	ws.claims[at].owner = owner
}

// undoClaims takes back what the operation under way has done to the claims. There were
// count before it.
func (ws *writeSet) undoClaims(count int) {
	for i := len(ws.claimChanges) - 1; i >= 0; i-- { // backwards: a claim may have changed twice
		ws.claims[ws.claimChanges[i].at].owner = ws.claimChanges[i].owner
	}
	for _, c := range ws.claims[count:] {
		delete(ws.claimed, string(c.key))
	}
	ws.claims = ws.claims[:count]
}
