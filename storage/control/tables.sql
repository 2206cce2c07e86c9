-- Written by go test -run TestNewTables -update: what the migrations come to.

CREATE TABLE account (
	owner    TEXT PRIMARY KEY,
	state    TEXT NOT NULL,
	admin    INTEGER NOT NULL, -- 1: may manage the accounts of others
	mail     TEXT NOT NULL, -- empty: none
	password TEXT NOT NULL, -- its hash; empty: none
	profile  BLOB NOT NULL, -- what the caller keeps of the person
	since    INTEGER NOT NULL, -- when it came into its state
	created  INTEGER NOT NULL,
	seen     INTEGER NOT NULL -- when the owner last logged in
) WITHOUT ROWID;

CREATE UNIQUE INDEX account_mail ON account (lower(mail)) WHERE mail <> '';

CREATE TABLE aci (
	seq       INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, so that cursors never skip
	id        TEXT NOT NULL UNIQUE,
	xml       BLOB NOT NULL,
	nodes     BLOB NOT NULL,
	urd       TEXT NOT NULL,
	owner     TEXT NOT NULL,
	url       TEXT NOT NULL,
	time      INTEGER NOT NULL,
	retrieved INTEGER NOT NULL DEFAULT 0 -- when it was taken or expired; 0 while it waits
, version INTEGER NOT NULL DEFAULT 0);

CREATE INDEX aci_ageing    ON aci (time) WHERE retrieved = 0;

CREATE INDEX aci_owner   ON aci (owner, seq);

CREATE INDEX aci_retrieved ON aci (retrieved) WHERE retrieved > 0;

CREATE INDEX aci_time    ON aci (time);

CREATE INDEX aci_urd     ON aci (urd, seq);

CREATE INDEX aci_url       ON aci (url, version, retrieved);

CREATE INDEX aci_waiting ON aci (owner, seq) WHERE retrieved = 0;

CREATE TABLE budget ( -- those that were given; of the owner '' that of all others
	owner    TEXT PRIMARY KEY,
	alerts   INTEGER NOT NULL, -- ACIs sent a day; 0 is no limit, as of the others
	urds     INTEGER NOT NULL,
	keywords INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE channel (
	n        INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, so that no message goes to another
	owner    TEXT NOT NULL,
	kind     TEXT NOT NULL,
	name     TEXT NOT NULL, -- by which its owner knows it
	key      TEXT NOT NULL, -- the id of the key that the address is encrypted under
	sealed   BLOB NOT NULL, -- the address
	settings BLOB NOT NULL, -- JSON
	state    TEXT NOT NULL,
	since    INTEGER NOT NULL, -- the last ACI when it was made
	failures INTEGER NOT NULL, -- one after the other
	said     TEXT NOT NULL, -- what the receiver said to the last
	created  INTEGER NOT NULL,
	UNIQUE (owner, name)
);

CREATE TABLE counter (
	name  TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO counter VALUES ('by_text', 0);
INSERT INTO counter VALUES ('checks', 0);
INSERT INTO counter VALUES ('day', 0);
INSERT INTO counter VALUES ('day_seq', 0);
INSERT INTO counter VALUES ('quotas', 0);
INSERT INTO counter VALUES ('revision', 0);

CREATE TABLE cursor (
	name     TEXT PRIMARY KEY,
	position INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE dead_letter (
	n        INTEGER PRIMARY KEY,
	id       TEXT NOT NULL UNIQUE,
	time     INTEGER NOT NULL,
	pipeline TEXT NOT NULL,
	stage    TEXT NOT NULL,
	error    TEXT NOT NULL,
	attempts INTEGER NOT NULL,
	kind     TEXT NOT NULL,
	item     BLOB NOT NULL,
	replay   INTEGER NOT NULL DEFAULT 0 -- 1: to be processed again
);

CREATE TABLE inbox_item ( -- the ACIs of owners who have an account
	seq       INTEGER PRIMARY KEY, -- aci.seq
	owner     TEXT NOT NULL,
	state     TEXT NOT NULL,
	relevance INTEGER NOT NULL,
	urgency   INTEGER NOT NULL
);

CREATE INDEX inbox_item_owner ON inbox_item (owner, seq, state, relevance);

CREATE TABLE keyword (
	key TEXT NOT NULL,
	urd INTEGER NOT NULL, -- urd.n
	PRIMARY KEY (key, urd)
) WITHOUT ROWID;

CREATE INDEX keyword_urd ON keyword (urd);

CREATE TABLE message (
	id       TEXT PRIMARY KEY, -- made of what it holds
	channel  INTEGER NOT NULL,
	state    TEXT NOT NULL,
	due      INTEGER NOT NULL, -- of the next attempt
	attempts INTEGER NOT NULL,
	said     TEXT NOT NULL, -- by the receiver, to the last attempt
	created  INTEGER NOT NULL,
	ended    INTEGER NOT NULL -- when it was taken, or given up; 0 while it waits
) WITHOUT ROWID;

CREATE INDEX message_channel ON message (channel, created);

CREATE INDEX message_due     ON message (due) WHERE ended = 0;

CREATE INDEX message_ended   ON message (ended) WHERE ended > 0;

CREATE TABLE mirror ( -- documents that are listed in an ACI of another
	n       INTEGER PRIMARY KEY,
	id      TEXT NOT NULL UNIQUE, -- that of the ACI which was not stored
	seq     INTEGER NOT NULL, -- aci.seq of the one that was
	url     TEXT NOT NULL,
	version INTEGER NOT NULL
);

CREATE INDEX mirror_seq ON mirror (seq, url);

CREATE INDEX mirror_url ON mirror (url, version);

CREATE TABLE notice ( -- the days of which owners were told that ACIs were withheld
	owner TEXT NOT NULL,
	day   INTEGER NOT NULL,
	PRIMARY KEY (owner, day)
) WITHOUT ROWID;

CREATE TABLE outbox ( -- what is to be sent, or was
	n       INTEGER PRIMARY KEY,
	channel INTEGER NOT NULL,
	key     TEXT NOT NULL, -- what it is: no channel has it twice
	seq     INTEGER NOT NULL, -- aci.seq; 0 for what is told of something else
	body    BLOB NOT NULL, -- of what is no ACI
	urgency INTEGER NOT NULL,
	due     INTEGER NOT NULL, -- not before
	message TEXT NOT NULL, -- that it was sent with; empty while it waits
	UNIQUE (channel, key)
);

CREATE INDEX outbox_due     ON outbox (due, channel) WHERE message = '';

CREATE INDEX outbox_message ON outbox (message) WHERE message <> '';

CREATE INDEX outbox_seq     ON outbox (seq) WHERE seq > 0;

CREATE TABLE owner (
	name  TEXT PRIMARY KEY,
	quota INTEGER NOT NULL -- requests a day
) WITHOUT ROWID;

CREATE TABLE removed (
	id       TEXT PRIMARY KEY,
	revision INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX removed_revision ON removed (revision);

CREATE TABLE secret (
	name    TEXT PRIMARY KEY,
	kind    TEXT NOT NULL,
	key     TEXT NOT NULL, -- the id of the key that it is encrypted under
	sealed  BLOB NOT NULL, -- nonce and AES-256-GCM
	created INTEGER NOT NULL,
	changed INTEGER NOT NULL
, bounds TEXT NOT NULL DEFAULT '', owner TEXT NOT NULL DEFAULT '') WITHOUT ROWID;

CREATE TABLE secret_grant ( -- who may have a secret used that is not their own
	name  TEXT NOT NULL, -- secret.name
	owner TEXT NOT NULL,
	PRIMARY KEY (name, owner)
) WITHOUT ROWID;

CREATE INDEX secret_grant_owner ON secret_grant (owner);

CREATE TABLE shown ( -- what owners were shown with ACIs, as fingerprints; hashes of them and the URD
	seq      INTEGER PRIMARY KEY, -- aci.seq
	document INTEGER NOT NULL, -- a hash of URL and credentials
	text     INTEGER NOT NULL, -- all that was shown
	matched  INTEGER NOT NULL,
	likeness INTEGER NOT NULL -- of all that was shown: no hash
);

CREATE INDEX shown_matched ON shown (matched);

CREATE INDEX shown_text    ON shown (text);

CREATE TABLE token (
	hash    TEXT PRIMARY KEY, -- the token itself is nowhere
	owner   TEXT NOT NULL,
	purpose TEXT NOT NULL,
	data    BLOB NOT NULL, -- what the caller keeps with it
	created INTEGER NOT NULL,
	expires INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX token_expires ON token (expires);

CREATE INDEX token_owner   ON token (owner);

CREATE TABLE trimmed ( -- the ids of ACIs that were removed, so that they are not sent again
	id TEXT PRIMARY KEY
, url     TEXT    NOT NULL DEFAULT '', version INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;

CREATE TABLE trimmed_today ( -- how many ACIs that came today were removed since
	owner TEXT PRIMARY KEY,
	count INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE urd (
	n            INTEGER PRIMARY KEY,
	id           TEXT NOT NULL UNIQUE,
	owner        TEXT NOT NULL,
	uri          TEXT NOT NULL,
	crawl        TEXT NOT NULL, -- empty when it starts none
	start        TEXT NOT NULL, -- of the crawl; empty when it is the uri
	protocol     TEXT NOT NULL,
	host         TEXT NOT NULL, -- empty when it names none
	urgency      INTEGER NOT NULL,
	revision     INTEGER NOT NULL,
	interest     INTEGER NOT NULL, -- the revision at which what is matched for it last changed
	check_time   INTEGER NOT NULL DEFAULT 0, -- when a check was last asked for
	check_number INTEGER NOT NULL DEFAULT 0, -- the counter of checks then
	nodes        BLOB NOT NULL -- the XML as a table, which XPath walks and URDs are read from
, keywords INTEGER NOT NULL DEFAULT 0);

CREATE INDEX urd_check    ON urd (check_number) WHERE check_number > 0;

CREATE INDEX urd_crawl    ON urd (crawl);

CREATE INDEX urd_holding ON urd (owner, keywords);

CREATE INDEX urd_host     ON urd (host);

CREATE INDEX urd_owner    ON urd (owner);

CREATE INDEX urd_revision ON urd (revision);

CREATE INDEX urd_uri      ON urd (uri);

CREATE TABLE urd_xml (
	n   INTEGER PRIMARY KEY, -- urd.n
	xml BLOB NOT NULL -- canonical: the truth; apart, so that nobody who looks for something reads it
);

CREATE TABLE usage (
	day      TEXT NOT NULL,
	owner    TEXT NOT NULL,
	requests REAL NOT NULL,
	PRIMARY KEY (day, owner)
) WITHOUT ROWID;

CREATE TABLE web_session (
	hash    TEXT PRIMARY KEY, -- of the token in the browser's cookie
	owner   TEXT NOT NULL, -- empty: nobody has logged in
	agent   TEXT NOT NULL,
	data    BLOB NOT NULL,
	created INTEGER NOT NULL,
	expires INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX web_session_expires ON web_session (expires);

CREATE INDEX web_session_owner   ON web_session (owner);

CREATE TABLE withheld ( -- ACIs beyond a budget
	id        TEXT PRIMARY KEY,
	owner     TEXT NOT NULL,
	day       INTEGER NOT NULL, -- since 1970
	relevance INTEGER NOT NULL,
	xml       BLOB NOT NULL
);

CREATE INDEX withheld_day   ON withheld (day, owner);

CREATE INDEX withheld_owner ON withheld (owner, day, relevance);
