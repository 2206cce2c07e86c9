package portal

import (
	"crypto/rand"
	"net/http"
	"strings"
	"time"

	"github.com/webrace/webrace/storage/control"
)

// What tokens of programs may be.
const (
	tokenLasts     = 365 * 24 * time.Hour
	mostTokens     = 20
	longestOfNames = 64 // characters of the name of a token, or of a secret
)

// addToken makes a token for a program, and shows it this once.
func addToken(v *visit, mine control.Owned) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	name := f.line("token_name")
	if !isName(name) {
		f.wrong("token_name", "settings.token_wrong", longestOfNames)
	}
	count := 0
	for _, err := range mine.Tokens(v.r.Context(), control.PurposeAPI) {
		if err != nil {
			return err
		}
		count++
	}
	if count >= mostTokens {
		f.wrong("token_name", "settings.token_many", mostTokens)
	}
	if !f.ok() {
		return v.showSettings(http.StatusUnprocessableEntity, mine, f, "")
	}
	token := rand.Text()
	err = mine.AddToken(v.r.Context(), token, control.Token{Purpose: control.PurposeAPI, Data: []byte(name), Expires: v.tools.now().Add(tokenLasts)})
	if err != nil {
		return err
	}
	f.values.Del("token_name")
	return v.showSettings(http.StatusOK, mine, f, token)
}

// isName reports whether a text can be the name of something of a person's.
func isName(s string) bool {
	return s != "" && len([]rune(s)) <= longestOfNames && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// deleteToken makes a token useless. One of another purpose is no program's.
func deleteToken(v *visit, mine control.Owned) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	for t, err := range mine.Tokens(v.r.Context(), control.PurposeAPI) {
		if err != nil {
			return err
		}
		if t.ID == f.Value("token") {
			if err := mine.DeleteToken(v.r.Context(), t.ID); err != nil {
				return err
			}
			return v.see("/settings", "token_deleted")
		}
	}
	return control.ErrNotFound
}
