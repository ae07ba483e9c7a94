package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents over the APIs of trackers, customer databases, calendars and code hosts.

func integrationLoops() []kind {
	return []kind{
		{name: "field_cannot_be_set", build: fieldCannotBeSet},
		{name: "metadata_read_instead_of_ticket_filed", build: metadataReadInsteadOfTicketFiled},
		{name: "room_declines_each_invitation", build: roomDeclinesEachInvitation},
		{name: "pull_request_without_commits", build: pullRequestWithoutCommits},
	}
}

// denied returns a call of a server's tool that answers with an error.
func (s secretary) denied(server, tool string, args json.RawMessage, reason string) entry {
	switch s.form {
	case 1:
		return failed(tool, args, reason)
	case 2:
		return call(server+"-"+tool, args, object("content", []json.RawMessage{object("type", "text", "text", reason)}, "isError", true))
	}
	return s.use(server, tool, args, "Error: "+reason)
}

// fieldGate is a field of a record that the API does not let the agent write.
type fieldGate struct {
	server, tool, field string
	id                  string
	values              []any
	args                func(value any) json.RawMessage
	reason              func() string
	looks               []entry // calls that read the record or its fields
}

func (s secretary) fieldGate() fieldGate {
	word := capitalized(s.word())
	switch s.IntN(3) {
	case 0:
		field, key := fmt.Sprintf("customfield_%d", s.between(10010, 10990)), strings.ToUpper(s.word()[:3])+fmt.Sprintf("-%d", s.between(10, 4000))
		return fieldGate{
			"atlassian", s.pick("jira_update_issue", "editJiraIssue", "update_issue"), field, key,
			[]any{word, map[string]string{"value": word}, []map[string]string{{"value": word}}, map[string]string{"id": fmt.Sprint(s.between(10100, 10900))}, map[string]string{"name": word}, []string{word}, strings.ToLower(word), map[string]map[string]string{"set": {"value": word}}},
			func(value any) json.RawMessage {
				fields := object(field, value)
				if s.coin() {
					fields = object("summary", word+" review", field, value)
				}
				return object("issue_key", key, "fields", fields)
			},
			func() string {
				return fmt.Sprintf("HTTP 400: {\"errorMessages\":[],\"errors\":{\"%s\":\"Field '%[1]s' cannot be set. It is not on the appropriate screen, or unknown.\"}}", field)
			},
			[]entry{
				s.use("atlassian", "jira_get_issue", object("issue_key", key), fmt.Sprintf("{\"key\":\"%s\",\"fields\":{\"summary\":\"%s review\",\"status\":{\"name\":\"In Progress\"},\"%s\":null,\"assignee\":{\"displayName\":\"%s\"}}}", key, word, field, s.person())),
				s.use("atlassian", "jira_search_fields", object("keyword", strings.ToLower(word)), fmt.Sprintf("[{\"id\":\"%s\",\"name\":\"%s Team\",\"custom\":true,\"schema\":{\"type\":\"option\"}}]", field, word)),
			},
		}
	case 1:
		field, id := s.pick("hs_lifecycle_score", "hs_analytics_source", "days_to_close", "hs_predictive_tier"), fmt.Sprint(s.between(100_000, 99_999_999))
		return fieldGate{
			"hubspot", s.pick("hubspot-update-property", "batch_update_objects", "update_contact"), field, id,
			[]any{word, strings.ToLower(word), 1, "1", strings.ToUpper(word), s.between(2, 90), "", []string{word}, word + ";"},
			func(value any) json.RawMessage {
				return object("objectType", "contacts", "inputs", []json.RawMessage{object("id", id, "properties", object(field, value))})
			},
			func() string {
				return fmt.Sprintf("{\"status\":\"error\",\"message\":\"Property values were not valid: [{\\\"isValid\\\":false,\\\"message\\\":\\\"\\\\\\\"%s\\\\\\\" is a read only property; its value cannot be set.\\\",\\\"error\\\":\\\"READ_ONLY_VALUE\\\",\\\"name\\\":\\\"%[1]s\\\"}]\",\"correlationId\":\"%s\",\"category\":\"VALIDATION_ERROR\"}", field, s.uuid())
			},
			[]entry{
				s.use("hubspot", "list_properties", object("objectType", "contacts"), fmt.Sprintf("[{\"name\":\"email\",\"type\":\"string\"},{\"name\":\"%s\",\"type\":\"enumeration\",\"calculated\":true},{\"name\":\"phone\",\"type\":\"string\"}]", field)),
				s.use("hubspot", "get_contact", object("id", id), fmt.Sprintf("{\"id\":\"%s\",\"properties\":{\"firstname\":\"%s\",\"%s\":null}}", id, s.person(), field)),
			},
		}
	}
	field, id := word+"_"+s.pick("Tier", "Region", "Owner", "Segment")+"__c", fmt.Sprintf("0015g%010dAAQ", s.between(1, 999_999_999))
	return fieldGate{
		"salesforce", s.pick("salesforce_dml_records", "update_record", "sf_update"), field, id,
		[]any{word, strings.ToLower(word), "Tier 1", 1, true, "Gold", word + " (new)", "a0B5g" + id[5:]},
		func(value any) json.RawMessage {
			return object("objectName", "Account", "operation", "update", "records", []json.RawMessage{object("Id", id, field, value)})
		},
		func() string {
			return fmt.Sprintf("INVALID_FIELD_FOR_INSERT_UPDATE: Unable to create/update fields: %s. Please check the security settings of this field and verify that it is read/write for your profile or permission set.", field)
		},
		[]entry{
			s.use("salesforce", "salesforce_describe_object", object("objectName", "Account"), fmt.Sprintf("Account: 3 of 71 fields\n- Name (string)\n- %s (picklist, updateable: false)\n- Phone (phone)", field)),
			s.use("salesforce", "salesforce_query_records", object("soql", "SELECT Id, Name, "+field+" FROM Account WHERE Id = '"+id+"'"), fmt.Sprintf("1 record\nId: %s\nName: %s Ltd\n%s: null", id, word, field)),
		},
	}
}

// fieldCannotBeSet writes one field of a record in every form that a value can have; the API does not let it write the field.
func fieldCannotBeSet(p *generator) (entries []entry, _ int) {
	s := p.secretary()
	g := s.fieldGate()
	w := wording{
		[]string{"I'll set `" + g.field + "` on " + g.id + ".", "Let me update the record."},
		[]string{"The update was rejected.", "The field was not accepted.", "Same validation error.", "The API still refuses the value.", "That format is wrong, too.", ""},
		[]string{"Let me pass the value in another format.", "Perhaps it wants an object instead of a string.", "Let me try the value in lower case.", "I'll try it with other arguments.", "Let me try the update again.", "Let me send the field alone."},
	}
	for k := range p.repeats() {
		entries = append(entries, s.denied(g.server, g.tool, g.args(g.values[p.IntN(len(g.values))]), g.reason()).after(w.of(p, k)))
		if k > 0 && p.IntN(4) == 0 {
			entries = append(entries, g.looks[p.IntN(len(g.looks))].after(thought{"", p.pick("Let me check the definition of the field.", "Let me look at the record.", "What does the field expect?")}))
		}
	}
	return entries, 1
}

// preparations returns a server, the thing that a user wants to have filed there, and four calls that prepare it.
func (s secretary) preparations() (thing string, looks []entry) {
	name, project := s.person(), strings.ToUpper(s.word()[:4])
	id, list := "5f"+strings.ReplaceAll(s.uuid(), "-", "")[:22], ""
	for k := range s.between(1, 30) {
		list += fmt.Sprintf("\n%d. %s (%s)", k+1, capitalized(s.phrase(1, 3)), strings.ToUpper(s.word()[:3]))
	}
	switch s.IntN(3) {
	case 0:
		return s.pick("the bug ticket", "the Jira issue", "the ticket in "+project), []entry{
			s.use("atlassian", "getAccessibleAtlassianResources", object(), fmt.Sprintf("[{\"id\":\"%s\",\"url\":\"https://%s.atlassian.example\",\"scopes\":[\"read:jira-work\",\"write:jira-work\"]}]", s.uuid(), s.word())),
			s.use("atlassian", "getVisibleJiraProjects", object("action", "create"), fmt.Sprintf("%d projects:%s\n%d. %s (%s)", strings.Count(list, "\n")+1, list, strings.Count(list, "\n")+1, capitalized(s.word()), project)),
			s.use("atlassian", "getJiraProjectIssueTypesMetadata", object("projectIdOrKey", project), "{\"issueTypes\":[{\"id\":\"10001\",\"name\":\"Task\"},{\"id\":\"10004\",\"name\":\"Bug\"},{\"id\":\"10002\",\"name\":\"Story\"}]}"),
			s.use("atlassian", "lookupJiraAccountId", object("searchString", name), fmt.Sprintf("{\"users\":[{\"accountId\":\"%s\",\"displayName\":\"%s\",\"active\":true}]}", id, name)),
		}
	case 1:
		owner, repo := s.word(), s.word()+"-"+s.word()
		return s.pick("the issue", "the bug report in "+repo, "the GitHub issue"), []entry{
			s.use("github", "list_labels", object("owner", owner, "repo", repo), "bug, enhancement, question, needs-triage"+strings.ReplaceAll(list, "\n", ", ")),
			s.use("github", "get_file_contents", object("owner", owner, "repo", repo, "path", ".github/ISSUE_TEMPLATE/bug.yml"), "name: Bug report\nbody:\n  - type: textarea\n    id: what\n    attributes:\n      label: What happened?\n    validations:\n      required: true\n  - type: input\n    id: version"),
			s.use("github", "list_issues", object("owner", owner, "repo", repo, "state", "open"), "[]"),
			s.use("github", "get_me", object(), fmt.Sprintf("{\"login\":\"%s-bot\",\"id\":%d}", s.word(), s.between(1000, 99_999_999))),
		}
	}
	return s.pick("the page", "the entry in the database", "the Notion page"), []entry{
		s.use("notion", "API-post-search", object("query", project), fmt.Sprintf("{\"results\":[{\"object\":\"database\",\"id\":\"%s\",\"title\":\"%s\"}],\"has_more\":false}", s.uuid(), project)),
		s.use("notion", "API-retrieve-a-database", object("database_id", id), "{\"properties\":{\"Name\":{\"type\":\"title\"},\"Status\":{\"type\":\"status\",\"options\":[\"Open\",\"Done\"]},\"Owner\":{\"type\":\"people\"},\"Due\":{\"type\":\"date\"}}}"),
		s.use("notion", "API-get-users", object("page_size", 100), fmt.Sprintf("%d users:%s\n%s", strings.Count(list, "\n")+1, list, name)),
		s.use("notion", "API-get-block-children", object("block_id", id), "{\"results\":[],\"has_more\":false}"),
	}
}

// metadataReadInsteadOfTicketFiled announces a ticket and reads again what it needs for it, and never files it.
func metadataReadInsteadOfTicketFiled(p *generator) (entries []entry, _ int) {
	thing, looks := p.secretary().preparations()
	p.Shuffle(len(looks), func(i, j int) { looks[i], looks[j] = looks[j], looks[i] })
	w := wording{
		[]string{"I'll create " + thing + ". First I collect what it needs.", "Let me prepare " + thing + "."},
		[]string{"Now I have what I need to create " + thing + ".", "I am ready to file it.", "All details for " + thing + " are known.", "Good.", "Almost there.", ""},
		[]string{"Let me first make sure that the settings are right.", "Before I create " + thing + ", let me check the required fields.", "Let me verify the configuration.", "Let me confirm the details before I file it.", "Let me look up what is still needed.", "I want to get this right, so let me check again."},
	}
	last := -1
	for k := range 4 + p.between(5, 18) {
		n := k
		for k >= 4 && (n == k || n == last) {
			n = p.IntN(4)
		}
		last = n
		t := w.of(p, min(k, 1))
		if k > 0 && k < 4 {
			t = thought{"", p.pick("Next, what else does it need?", "Let me look up the rest.", "Now the other details.", "Let me check the next thing.")}
		}
		entries = append(entries, looks[n].after(t))
	}
	return entries, 4
}

// roomDeclinesEachInvitation books a room at other times, and the room declines each of them because the agent may not book it.
func roomDeclinesEachInvitation(p *generator) (entries []entry, _ int) {
	s, room, what := p.secretary(), p.pick("Room", "Boardroom", "Studio", "Lab", "Salon")+" "+capitalized(p.word()), capitalized(p.phrase(1, 3))
	address, month, day := strings.ToLower(strings.ReplaceAll(room, " ", "."))+"@"+p.word()+".example", p.between(7, 12), p.between(1, 24)
	now, created := p.passingTime(), p.pick("Event created. id: %s, status: confirmed, %s: needsAction", "{\"id\":\"%s\",\"status\":\"confirmed\",\"attendees\":[{\"displayName\":\"%s\",\"resource\":true,\"responseStatus\":\"needsAction\"}]}")
	comment := p.pick("Your request was declined because you do not have permission to book this resource.", "Declined: the organizer is not on the list of people who can book "+room+".", "This resource only accepts requests from delegates. Your request was declined.")
	create, read, _ := strings.Cut(p.pick("create_event:get_event", "create-calendar-event:get-calendar-event", "calendar_create:calendar_get", "outlook_create_event:outlook_get_event"), ":")
	w := wording{
		[]string{"I'll book " + room + " for the meeting.", "Let me create the meeting in " + room + "."},
		[]string{"The room declined.", room + " did not accept the invitation.", "Declined again.", "The booking of the room did not go through.", "No luck with that slot.", ""},
		[]string{"Let me try another time.", "I'll move the meeting.", "Let me send the invitation again.", "Perhaps another slot works.", "Let me book the room again.", "I'll try once more with other details."},
	}
	for k := range p.laps() {
		id, hour := strings.ReplaceAll(p.uuid(), "-", "")[:26], p.between(8, 17)
		start := fmt.Sprintf("2026-%02d-%02dT%02d:%s:00", month, day+p.IntN(4), hour, p.pick("00", "15", "30", "45"))
		title := p.pick(what, what, what+" (moved)", "Meeting: "+what)
		entries = append(entries, s.use("calendar", create, object("summary", title, "start", start, "duration_minutes", p.pickInt(30, 45, 60, 90), "attendees", []string{address}), fmt.Sprintf(created, id, room)).after(w.of(p, k)),
			s.use("calendar", read, object("event_id", id), fmt.Sprintf("{\"id\":\"%s\",\"summary\":\"%s\",\"start\":\"%s\",\"attendees\":[{\"displayName\":\"%s\",\"resource\":true,\"responseStatus\":\"declined\",\"comment\":\"%s\"}],\"updated\":\"%s\"}", id, title, start, room, comment, now())).after(thought{"", p.pick("Let me see whether the room has accepted.", "Did the room accept?", "Let me check the response.", "")}))
	}
	return entries, 2
}

// pullRequestWithoutCommits opens a pull request with other titles; its branch has no commit that the main branch does not have.
func pullRequestWithoutCommits(p *generator) (entries []entry, _ int) {
	h, s, base, topic := p.harness(), p.secretary(), p.pick("main", "main", "master", "develop"), p.word()+"-"+p.word()
	branch, owner, repo, inShell := p.pick("feat/", "fix/", "agent/", "")+topic, p.word(), p.word()+"-"+p.word(), p.coin()
	reason := "No commits between " + base + " and " + branch
	titles := []string{"Add " + topic, "feat: " + topic, "Fix " + topic, topic + ": first version", "Implement " + topic, capitalized(topic)}
	checks := [][2]string{
		{"git push -u origin " + branch, "branch '" + branch + "' set up to track 'origin/" + branch + "'.\nEverything up-to-date"},
		{"git push origin HEAD", "Everything up-to-date"},
		{"git status", "On branch " + branch + "\nYour branch is up to date with 'origin/" + branch + "'.\n\nnothing to commit, working tree clean"},
		{"git log origin/" + base + "..HEAD --oneline", ""},
		{"git push --force-with-lease origin " + branch, "Everything up-to-date"},
		{"git branch -vv", fmt.Sprintf("* %[1]s %07[2]x [origin/%[1]s] Add %[3]s\n  %[4]s %07[2]x [origin/%[4]s] Add %[3]s", branch, p.IntN(1<<28), topic, base)},
		{"git diff --stat origin/" + base, ""},
	}
	w := wording{
		[]string{"Let me open the pull request.", "The work is done. I'll create the PR."},
		[]string{"The branch is pushed.", "Everything is up to date.", "The push went through.", "The tree is clean.", ""},
		[]string{"Now let me create the pull request.", "Let me open the PR again.", "I'll try the PR with another title.", "Now the PR should work.", "Let me retry the pull request."},
	}
	for k := range p.laps() {
		check, title, body := checks[p.IntN(len(checks))], p.pick(titles...), capitalized(p.phrase(4, 20))+"."
		entries = append(entries, h.shell(check[0], check[1], 0).after(thought{strings.Repeat(p.pick("It says that there are no commits.", "GitHub sees no difference.", "Validation failed.", "The pull request was refused."), min(k, 1)), p.pick("Let me push the branch.", "Let me check the branch.", "Let me make sure that the commits are pushed.", "Let me see the state of the branch.")}))
		if inShell {
			entries = append(entries, h.shell(fmt.Sprintf("gh pr create --title \"%s\" --body \"%s\" --base %s", title, body, base)+p.pick("", "", " --head "+branch, " --draft"), "pull request create failed: GraphQL: "+reason+" (createPullRequest)", 1).after(w.of(p, k)))
			continue
		}
		entries = append(entries, s.denied("github", "create_pull_request", object("owner", owner, "repo", repo, "title", title, "body", body, "head", branch, "base", base),
			fmt.Sprintf("failed to create pull request: POST https://api.github.com/repos/%s/%s/pulls: 422 Validation Failed [{Resource:PullRequest Field: Code:custom Message:%s}]", owner, repo, reason)).after(w.of(p, k)))
	}
	return entries, 2
}
