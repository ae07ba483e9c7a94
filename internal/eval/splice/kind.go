package splice

import (
	"encoding/json"
	"slices"
)

// entry is one event in the format of labelled runs.
type entry struct {
	Kind   string          `json:"kind"`
	Agent  string          `json:"agent,omitempty"`
	Role   string          `json:"role,omitempty"`
	Text   string          `json:"text,omitempty"`
	Tool   string          `json:"tool,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
	From   string          `json:"from,omitempty"`
	To     string          `json:"to,omitempty"`

	thought thought // what the agent says before it
}

// kind is a kind of loop or lookalike.
type kind struct {
	name      string
	benign    bool
	reporting bool // detectors are never tuned on it: its figures measure how well rules generalise
	// build returns the entries of a stretch, and the index of the onset: the first that repeats an earlier call or an
	// earlier result; in a cycle, the first of the second round.
	build func(*generator) (entries []entry, onset int)
}

// kinds lists all kinds by family. The index of a kind is a part of its seed, so new kinds are appended.
func kinds() []kind {
	return slices.Concat(loops(), benign(lookalikes()), shellLoops(), serviceLoops(), benign(shellLookalikes()), benign(serviceLookalikes()),
		operationsLoops(), browserLoops(), repositoryLoops(), officeLoops(),
		benign(repositoryLookalikes()), benign(operationsLookalikes()), benign(officeLookalikes()),
		toolchainLoops(), interactionLoops(), benign(codingLookalikes()), benign(deskLookalikes()),
		engineeringLoops(), everydayLoops(), benign(engineeringLookalikes()), benign(everydayLookalikes()),
		releaseLoops(), cloudLoops(), conversationLoops(), workplaceLoops(),
		benign(releaseLookalikes()), benign(cloudLookalikes()), benign(conversationLookalikes()), benign(workplaceLookalikes()),
		technicalLoops(), businessLoops(), fieldLoops(),
		benign(technicalLookalikes()), benign(businessLookalikes()), benign(fieldLookalikes()),
		repairLoops(), containerLoops(), assistantLoops(), webLoops(),
		benign(repairLookalikes()), benign(analysisLookalikes()), benign(assistantLookalikes()),
		setupLoops(), studioLoops(), benign(setupLookalikes()), benign(studioLookalikes()),
		codebaseLoops(), environmentLoops(), recordsLoops(), onlineLoops(),
		benign(codebaseLookalikes()), benign(environmentLookalikes()), benign(recordsLookalikes()), benign(onlineLookalikes()),
		sandboxLoops(), polyglotLoops(), commerceLoops(), teamLoops(),
		benign(sandboxLookalikes()), benign(polyglotLookalikes()), benign(commerceLookalikes()), benign(teamLookalikes()),
		terminalLoops(), analyticsLoops(), platformLoops(), connectorLoops(), helpdeskLoops(), researchLoops(),
		benign(terminalLookalikes()), benign(analyticsLookalikes()), benign(platformLookalikes()),
		benign(connectorLookalikes()), benign(helpdeskLookalikes()), benign(researchLookalikes()),
		compilerLoops(), deviceLoops(), trainingLoops(), pipelineLoops(), incidentLoops(),
		benign(compilerLookalikes()), benign(deviceLookalikes()), benign(trainingLookalikes()), benign(pipelineLookalikes()), benign(incidentLookalikes()),
		financeLoops(), caseworkLoops(), travelLoops(), logisticsLoops(), householdLoops(), roundtableLoops(), frontdeskLoops(), crewLoops(),
		benign(financeLookalikes()), benign(caseworkLookalikes()), benign(travelLookalikes()), benign(logisticsLookalikes()),
		benign(householdLookalikes()), benign(roundtableLookalikes()), benign(frontdeskLookalikes()), benign(crewLookalikes()),
		reporting(workbenchLoops()), reporting(storefrontLoops()), reporting(inquiryLoops()), reporting(databaseLoops()),
		reporting(benign(workbenchLookalikes())), reporting(benign(storefrontLookalikes())),
		reporting(benign(inquiryLookalikes())), reporting(benign(databaseLookalikes())),
		monorepoLoops(), secretaryLoops(), squadLoops(), fleetLoops(),
		benign(monorepoLookalikes()), benign(secretaryLookalikes()),
		benign(squadLookalikes()), benign(fleetLookalikes()),
		bugfixLoops(), provisionLoops(), ledgerLoops(), conciergeLoops(),
		benign(bugfixLookalikes()), benign(provisionLookalikes()),
		benign(ledgerLookalikes()), benign(conciergeLookalikes()),
		legacyLoops(), scraperLoops(), claimsLoops(), councilLoops(),
		benign(legacyLookalikes()), benign(scraperLookalikes()),
		benign(claimsLookalikes()), benign(councilLookalikes()),
		dataworkLoops(), integrationLoops(), delegationLoops(), greenfieldLoops(),
		benign(dataworkLookalikes()), benign(integrationLookalikes()),
		benign(delegationLookalikes()), benign(greenfieldLookalikes()),
		refactorLoops(), sysadminLoops(), portalLoops(), hotlineLoops(),
		benign(refactorLookalikes()), benign(sysadminLookalikes()),
		benign(portalLookalikes()), benign(hotlineLookalikes()),
		frontendLoops(), infrastructureLoops(), upkeepLoops(), accountsLoops(),
		benign(frontendLookalikes()), benign(infrastructureLookalikes()),
		benign(upkeepLookalikes()), benign(accountsLookalikes()),
		nativeLoops(), laboratoryLoops(), paperworkLoops(), puzzleLoops(),
		benign(nativeLookalikes()), benign(laboratoryLookalikes()),
		benign(paperworkLookalikes()), benign(puzzleLookalikes()),
		appsLoops(), warehouseLoops(), surfingLoops(), callcenterLoops(),
		benign(appsLookalikes()), benign(warehouseLookalikes()),
		benign(surfingLookalikes()), benign(callcenterLookalikes()),
		reporting(backendLoops()), reporting(maintainerLoops()), reporting(dossierLoops()), reporting(oncallLoops()),
		reporting(benign(backendLookalikes())), reporting(benign(maintainerLookalikes())),
		reporting(benign(dossierLookalikes())), reporting(benign(oncallLookalikes())),
		reporting(editorLoops()), reporting(deliveryLoops()), reporting(membershipLoops()), reporting(newsroomLoops()),
		reporting(benign(editorLookalikes())), reporting(benign(deliveryLookalikes())),
		reporting(benign(membershipLookalikes())), reporting(benign(newsroomLookalikes())),
		reporting(mobileLoops()), reporting(navigatorLoops()), reporting(jupyterLoops()), reporting(procurementLoops()),
		reporting(benign(mobileLookalikes())), reporting(benign(navigatorLookalikes())),
		reporting(benign(jupyterLookalikes())), reporting(benign(procurementLookalikes())))
}

// reporting marks the kinds that detectors are not tuned on.
func reporting(kinds []kind) []kind {
	for k := range kinds {
		kinds[k].reporting = true
	}
	return kinds
}

func benign(lookalikes []kind) []kind {
	for k := range lookalikes {
		lookalikes[k].benign = true
	}
	return lookalikes
}

// loops lists those of repeats.go, cycles.go, no_progress.go and speech.go.
func loops() []kind {
	return []kind{
		{name: "exact_repeat", build: exactRepeat}, // a cycle of length 1
		{name: "volatile_result", build: volatileResult},
		{name: "reordered_keys", build: reorderedKeys},
		{name: "optional_argument", build: optionalArgument},
		{name: "repeat_between_other_calls", build: repeatBetweenOtherCalls},
		{name: "one_file_by_many_commands", build: oneFileByManyCommands},
		{name: "cycle_2", build: cycle(2)},
		{name: "cycle_3", build: cycle(3)},
		{name: "cycle_4", build: cycle(4)},
		{name: "cycle_5", build: cycle(5)},
		{name: "cycle_6", build: cycle(6)},
		{name: "cycle_7", build: cycle(7)},
		{name: "cycle_8", build: cycle(8)},
		{name: "edit_revert", build: editRevert},
		{name: "handoff_bounce", build: handoffBounce},
		{name: "handoff_bounce_bare", build: bareHandoffBounce},
		{name: "reworded_query", build: rewordedQuery},
		{name: "empty_result", build: emptyResult},
		{name: "same_error", build: sameError},
		{name: "same_error_volatile", build: sameVolatileError},
		{name: "same_error_in_output", build: sameErrorInOutput},
		{name: "stuck_polling", build: stuckPolling},
		{name: "alike_messages", build: alikeMessages},
		{name: "repeating_text", build: repeatingText},
	}
}

// stretch builds the entries, with what the agent says before them. The onset of a lookalike is its first event.
func (k kind) stretch(p *generator) (entries []entry, onset int) {
	built, first := k.build(p)
	if !slices.ContainsFunc(built, func(e entry) bool { return e.thought != thought{} }) {
		k.think(p, built)
	}
	voice := p.voice()
	for n, e := range built {
		if text := voice.text(e.thought); text != "" {
			entries = append(entries, say(text).by(e.Agent))
		}
		if n == first {
			onset = len(entries)
		}
		entries = append(entries, e)
	}
	if k.benign {
		return entries, 0
	}
	return entries, onset
}

func call(tool string, args, result json.RawMessage) entry {
	return entry{Kind: "tool_call", Tool: tool, Args: args, Result: result}
}

func failed(tool string, args json.RawMessage, reason string) entry {
	return entry{Kind: "tool_call", Tool: tool, Args: args, Error: reason}
}

func say(text string) entry { return entry{Kind: "message", Role: "assistant", Text: text} }

// quoted returns text as a JSON string.
func quoted(text string) json.RawMessage { return jsonOf(text) }

// jsonOf returns a string, a number or a list of strings as JSON.
func jsonOf(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null") // of what is handed over here, nothing
	}
	return text
}

// object returns a JSON object with names and values in this order.
func object(pairs ...any) json.RawMessage {
	text := []byte{'{'}
	for k := 0; k < len(pairs); k += 2 {
		if k > 0 {
			text = append(text, ',')
		}
		text = append(text, jsonOf(pairs[k])...)
		text = append(text, ':')
		text = append(text, jsonOf(pairs[k+1])...)
	}
	return append(text, '}')
}
