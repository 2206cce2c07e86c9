package portal

import (
	"encoding/json"

	"github.com/webrace/webrace/storage/control"
)

// profile is what the application keeps of a person, beside what there is of an account.
type profile struct {
	Zone   string   `json:"zone,omitempty"`   // the IANA name of the time zone that times are shown in; empty: UTC
	Agents []string `json:"agents,omitempty"` // the browsers that logged in last, as agentKind has them
}

// profileOf reads that of an account. One that another program wrote is as none.
func profileOf(a control.Account) (p profile) {
	if json.Unmarshal(a.Profile, &p) != nil {
		return profile{}
	}
	return p
}

func (p profile) encode() []byte {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // of texts alone
	}
	return b
}
