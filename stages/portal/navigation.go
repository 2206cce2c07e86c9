package portal

// navigationEntry is an entry of the navigation.
type navigationEntry struct{ Name, Link, Label string }

// navigation is where who has logged in may go.
func navigation(admin bool) []navigationEntry {
	entries := []navigationEntry{
		{"inbox", "/", text("nav.inbox")}, {"interests", "/interests", text("nav.interests")}, {"channels", "/channels", text("nav.channels")},
		{"deliveries", "/deliveries", text("nav.deliveries")}, {"settings", "/settings", text("nav.settings")},
	}
	if admin {
		entries = append(entries, navigationEntry{"admin", "/admin", text("nav.admin")})
	}
	return entries
}
