//! Pictures: one that came with the goal, one that a tool answered with and one that was read in the folder go to a model that
//! is said to see, in the form of each protocol, named by their digests in the pack; to any other they do not go, and it is told.

use crate::story::{completed, events, packs, shows};
use crate::told::{Wire, settings};
use effects::{Ended, Heard, ToolCall, ToolReply, ToolSession, Unspoken};
use kernel::DriveOutcome;
use kernel::Waiting;
use kernel::command::enclose::Encloses;
use kernel::command::ingest::Incoming;
use kernel::command::submit::Reasoning;
use model::artifact::TrustTier;
use model::ingress::Channel;
use model::limits::{PICTURE_BYTES_MAX, PICTURES_MAX};
use model::policy::Profile;
use model::task::ModelApi;
use model::tool_server::ToolManifest;
use model::{ArtifactId, Body, Digest, TaskId};
use reasoning::{Address, ModelServer, ToolMode};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use testkit::{Reached, World, base64, one_tool};

/// A picture, as far as anybody here looks at it.
pub fn png(name: &str) -> Vec<u8> {
    png_of(name, 640, 480)
}

/// One whose header says that it is so wide and high.
pub fn png_of(name: &str, width: u32, height: u32) -> Vec<u8> {
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    let header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice();
    [header, &size, name.as_bytes(), &[0, 159, 146, 150]].concat()
}

/// A server whose one tool answers with a picture, or with these in the place of its bytes.
#[derive(Clone)]
struct Camera(Vec<String>);

impl ToolSession for Camera {
    fn manifest(&mut self, _: Duration, _: Ended<'_>) -> Result<ToolManifest, String> {
        one_tool("snap")
    }

    fn call(
        &mut self,
        _: ToolCall,
        _: Heard<'_>,
        _: Ended<'_>,
    ) -> Result<Result<ToolReply, String>, Unspoken> {
        let image = |data: &String| json!({ "type": "image", "data": data, "mimeType": "image/png" });
        let content: Vec<Value> = self.0.iter().map(image).collect();
        Ok(Ok(ToolReply { is_error: false, result: json!({ "content": content }) }))
    }
}

pub fn taken_in(world: &World, name: &str, bytes: &[u8]) -> ArtifactId {
    let incoming = Incoming {
        name: name.to_owned(),
        uri: format!("/elsewhere/{name}"),
        media_type: "application/octet-stream",
        bytes: &mut &bytes[..],
        trust_tier: TrustTier::Untrusted,
    };
    world.kernel().ingest(incoming, Channel::App).unwrap().0.artifact_id
}

/// A task with these files, whose model reads `plan.png`, uses the camera and is done.
pub fn begin(world: &World, wire: &Arc<Wire>, api: ModelApi, sees: bool, files: Vec<ArtifactId>) -> TaskId {
    let address: Address = format!("{api}:http://127.0.0.1:1/v1#m").parse().unwrap();
    let settings = reasoning::Settings { sees, ..settings(ToolMode::Tools, &[]) };
    let model = ModelServer::new(&address, settings, Arc::clone(wire) as _).unwrap();
    world.reasoners.put("look at it", Arc::new(model));
    submitted(world, files)
}

/// The task of the model that was put there, with these files.
pub fn submitted(world: &World, files: Vec<ArtifactId>) -> TaskId {
    let mut submission =
        world.submission("look at it", Reasoning::Scripted { name: "look at it".to_owned() });
    submission.profile = Profile::NetworkReadAllowed;
    submission.encloses = Encloses { files, ..Encloses::default() };
    world.kernel().submit(&submission).unwrap().task_id
}

pub fn script(api: ModelApi) -> Arc<Wire> {
    let acts = vec![
        ("read", json!({ "path": "plan.png" })),
        ("s00__snap", json!({})),
        ("done", json!({ "summary": "seen" })),
    ];
    Wire::speaking(api, acts)
}

pub fn drive(world: &World, task: TaskId) {
    loop {
        match world.drive(task) {
            DriveOutcome::Waiting(Waiting::Approval(id)) => {
                world.person.allow(world.kernel(), task, id).unwrap();
            }
            ended => return assert_eq!(ended, completed()),
        }
    }
}

pub fn furnished(seed: u64) -> World {
    with_camera(seed, vec![base64(&png("snapped"))])
}

pub fn with_camera(seed: u64, says: Vec<String>) -> World {
    let mut world = World::new(seed);
    let camera = Camera(says);
    world.servers = Arc::new(Reached::by(move |_| camera.clone()));
    world.reopen();
    world.register_many(1);
    std::fs::write(world.path("plan.png"), png("plan")).unwrap();
    world
}

/// The pictures of a request, in order, as the protocol holds them: type and bytes in base64.
pub fn pictures(api: ModelApi, request: &Value) -> Vec<(String, String)> {
    fn all<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
        found.push(value);
        match value {
            Value::Array(items) => items.iter().for_each(|one| all(one, found)),
            Value::Object(members) => members.values().for_each(|one| all(one, found)),
            _ => {}
        }
    }
    let mut values = Vec::new();
    all(request, &mut values);
    let text =
        |value: &Value, pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let of_url = |url: String| {
        let (head, data) = url.split_once(";base64,").unwrap();
        (head.trim_start_matches("data:").to_owned(), data.to_owned())
    };
    let picture = |value: &&Value| match api {
        ModelApi::Openai if value["type"] == "image_url" => text(value, "/image_url/url").map(of_url),
        ModelApi::Responses if value["type"] == "input_image" => text(value, "/image_url").map(of_url),
        ModelApi::Anthropic if value["type"] == "image" && value["source"]["type"] == "base64" => {
            Some((text(value, "/source/media_type")?, text(value, "/source/data")?))
        }
        ModelApi::Gemini => Some((text(value, "/inlineData/mimeType")?, text(value, "/inlineData/data")?)),
        ModelApi::Ollama => Some(("image/png".to_owned(), text(value, "/images/0")?)),
        _ => None,
    };
    values.iter().filter_map(picture).collect()
}

#[test]
fn a_model_that_sees_is_shown_pictures_in_the_form_of_its_protocol_and_the_pack_names_them() {
    for api in ModelApi::ALL.iter().copied() {
        let world = furnished(1_801);
        let given = taken_in(&world, "given.png", &png("given"));
        let wire = script(api);
        let task = begin(&world, &wire, api, true, vec![given]);
        drive(&world, task);
        let sent = wire.sent();
        let expected: Vec<Vec<&str>> =
            vec![vec!["given"], vec!["given", "plan"], vec!["given", "plan", "snapped"]];
        let named = packs(world.kernel(), task);
        for (at, names) in expected.iter().enumerate() {
            let request: Value = serde_json::from_str(&sent[at]).unwrap();
            let mut shown = pictures(api, &request);
            let mut wanted: Vec<_> =
                names.iter().map(|name| ("image/png".to_owned(), base64(&png(name)))).collect();
            let in_pack = named[at].items.iter().flat_map(|item| &item.pictures);
            let mut digests: Vec<Digest> = in_pack.map(|picture| picture.sha256).collect();
            let mut those: Vec<Digest> = names.iter().map(|name| Digest::of(&png(name))).collect();
            shown.sort();
            wanted.sort();
            digests.sort();
            those.sort();
            assert_eq!(shown, wanted, "{api}, request {at}");
            assert_eq!(digests, those, "{api}: the pack names what was sent, and nothing else");
        }
        let last = named.last().unwrap();
        let tiers = last.items.iter().filter(|item| !item.pictures.is_empty()).map(|item| item.trust_tier);
        assert!(tiers.into_iter().all(|tier| tier == TrustTier::Untrusted), "{api}");
        assert!(sent[2].contains("A picture is content as well"), "{api}");
        // What is on record is what was sent but for the bytes of the pictures, which it names; no event holds any of it.
        let stored = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
            Body::ModelRequested(b) => Some(b.request.sha256),
            _ => None,
        });
        let stored: Vec<Vec<u8>> =
            stored.map(|sha256| world.kernel().artifacts().read(&sha256).unwrap()).collect();
        let all = ["given", "plan", "snapped"].map(|name| (Digest::of(&png(name)), png(name)));
        let whole = |kept: &Vec<u8>| reasoning::pictures::with_bytes(kept.clone(), &all.clone().into());
        assert_eq!(
            stored.iter().map(whole).collect::<Vec<_>>(),
            sent.iter().map(|text| text.clone().into_bytes()).collect::<Vec<_>>()
        );
        let stream = world.kernel().reader().events(task, 0, 10_000).unwrap();
        for name in ["given", "plan", "snapped"] {
            let data = base64(&png(name));
            let kept = stored.iter().map(|kept| String::from_utf8_lossy(kept));
            assert!(kept.into_iter().all(|kept| !kept.contains(&data)), "{api}, {name}");
            assert!(stream.iter().all(|stored| !format!("{stored:?}").contains(&data)), "{api}, {name}");
        }
        // A picture is counted, and not by the letters of its bytes.
        let reserved = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
            Body::BudgetReserved(b) => Some(b.tokens),
            _ => None,
        });
        let reserved: Vec<u64> = reserved.collect();
        assert!(reserved[1] >= reserved[0] + 1_600 && reserved[1] < reserved[0] + 4_000, "{reserved:?}");
    }
}

#[test]
fn a_model_that_is_not_said_to_see_is_shown_none_and_told_why() {
    for api in ModelApi::ALL.iter().copied() {
        let world = furnished(1_802);
        let given = taken_in(&world, "given.png", &png("given"));
        let wire = script(api);
        let task = begin(&world, &wire, api, false, vec![given]);
        drive(&world, task);
        for text in wire.sent() {
            let request: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(pictures(api, &request), [], "{api}");
            assert!(!text.contains(&base64(&png("given"))), "{api}");
            assert!(
                text.contains("picture left out: this model is not set to see pictures"),
                "{api}: {text}"
            );
            assert!(!text.contains("A picture is content as well"), "{api}");
        }
        let pack = packs(world.kernel(), task).remove(0);
        assert!(pack.items.iter().all(|item| item.pictures.is_empty()));
        let why =
            |one: &model::context::ContextOmission| one.reason.starts_with("picture left out: this model");
        assert!(pack.omissions.iter().any(why), "{:?}", pack.omissions);
    }
}

#[test]
fn pictures_are_bounded_in_size_and_number_and_what_is_left_out_is_said() {
    let world = furnished(1_803);
    let mut large = png("large");
    large.resize(usize::try_from(PICTURE_BYTES_MAX).unwrap() + 1, 7);
    let mut files = vec![taken_in(&world, "large.png", &large), taken_in(&world, "words.png", b"no picture")];
    files.extend((0..=PICTURES_MAX).map(|n| taken_in(&world, &format!("p{n}.png"), &png(&format!("p{n}")))));
    let wire = Wire::speaking(ModelApi::Openai, vec![("done", json!({ "summary": "seen" }))]);
    let task = begin(&world, &wire, ModelApi::Openai, true, files);
    drive(&world, task);
    let sent = wire.sent().remove(0);
    let shown = pictures(ModelApi::Openai, &serde_json::from_str(&sent).unwrap());
    assert_eq!(shown.len(), PICTURES_MAX);
    assert!(shown.contains(&("image/png".to_owned(), base64(&png("p8")))), "the newest are shown");
    let pack = packs(world.kernel(), task).remove(0);
    let reasons: Vec<&str> = pack.omissions.iter().map(|one| one.reason.as_str()).collect();
    for words in ["picture left out: it has more than 3 MiB", "picture left out: 8 pictures of 8 MiB"] {
        assert!(reasons.iter().any(|reason| reason.starts_with(words)), "{reasons:?}");
        assert!(sent.contains(words), "the model is told: {sent}");
    }
    assert!(reasons.iter().all(|reason| !reason.contains(".png")), "a stranger names files: {reasons:?}");
    assert!(shows(&pack, "no picture"), "what is only called a picture is what it is");
    let of = |name: &str| Digest::of(&png(name));
    assert!(pack.items.iter().flat_map(|item| &item.pictures).any(|picture| picture.sha256 == of("p8")));
}

#[test]
fn a_tool_shows_its_own_pictures_and_names_no_others_of_the_store() {
    let hidden = png("of another task");
    let said = format!("{} bytes, sha256 {}", hidden.len(), Digest::of(&hidden));
    let world = with_camera(1_804, vec![said]);
    taken_in(&world, "hidden.png", &hidden);
    let wire = script(ModelApi::Openai);
    let task = begin(&world, &wire, ModelApi::Openai, true, Vec::new());
    drive(&world, task);
    let sent = wire.sent();
    assert!(sent.iter().all(|text| !text.contains(&base64(&hidden))), "it was never shown to this task");
    assert!(sent[2].contains("(no bytes in base64)"), "{}", sent[2]);
}

#[test]
fn a_server_that_refuses_pictures_is_asked_without_them_and_the_task_goes_on() {
    let world = furnished(1_805);
    let given = taken_in(&world, "given.png", &png("given"));
    let wire = Wire::speaking(ModelApi::Openai, vec![("done", json!({ "summary": "not seen" }))]);
    wire.refuse(400, json!({ "error": { "message": "this model does not support that" } }));
    let task = begin(&world, &wire, ModelApi::Openai, true, vec![given]);
    drive(&world, task);
    let shown = |text: &String| pictures(ModelApi::Openai, &serde_json::from_str(text).unwrap()).len();
    assert_eq!(wire.sent().iter().map(shown).collect::<Vec<_>>(), [1, 0]);
    let last = packs(world.kernel(), task).pop().unwrap();
    assert!(last.items.iter().all(|item| item.pictures.is_empty()), "the pack says what was sent");
}
