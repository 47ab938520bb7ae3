"""Writes shapes.json: the shapes of AWS's service models that the templates and the state machines use.

    pip install botocore && python test/service-models/extract.py

The models are AWS's own, published with botocore under the Apache License 2.0. Only what a value is checked by is kept:
types, members, enumerations, patterns, lengths and ranges.
"""
import json
import pathlib

import botocore
from botocore.loaders import Loader

OPERATIONS = {
    "sagemaker": [
        "CreateModel",
        "DescribeModel",
        "DeleteModel",
        "ListModels",
        "CreateEndpointConfig",
        "DescribeEndpointConfig",
        "DeleteEndpointConfig",
        "ListEndpointConfigs",
        "CreateEndpoint",
        "UpdateEndpoint",
        "DescribeEndpoint",
        "DeleteEndpoint",
        "ListEndpoints",
        "CreateTransformJob",
        "DescribeTransformJob",
        "StopTransformJob",
        "ListTransformJobs",
        "CreateProcessingJob",
        "StopProcessingJob",
        "DescribeProcessingJob",
        "CreateModelPackage",
        "CreateModelPackageGroup",
        "DescribeModelPackageGroup",
        "PutModelPackageGroupPolicy",
        "ListModelPackages",
        "DescribeModelPackage",
        "CreateInferenceComponent",
        "UpdateInferenceComponent",
        "DescribeInferenceComponent",
        "CreateInferenceRecommendationsJob",
        "DescribeInferenceRecommendationsJob",
        "StopInferenceRecommendationsJob",
    ],
    "sagemaker-runtime": [
        "InvokeEndpoint",
        "InvokeEndpointAsync",
        "InvokeEndpointWithResponseStream",
    ],
    "application-autoscaling": [
        "RegisterScalableTarget",
        "PutScalingPolicy",
        "PutScheduledAction",
    ],
    "cloudwatch": ["PutMetricAlarm", "PutDashboard", "PutMetricData", "DescribeAlarms"],
    "stepfunctions": [
        "CreateStateMachine",
        "ListStateMachines",
        "StartExecution",
        "StopExecution",
        "DescribeExecution",
        "GetExecutionHistory",
    ],
    "batch": [
        "CreateComputeEnvironment",
        "CreateJobQueue",
        "RegisterJobDefinition",
        "SubmitJob",
        "TerminateJob",
        "DescribeJobs",
        "DescribeJobDefinitions",
    ],
    "lambda": ["Invoke"],
    "s3": ["ListObjectsV2"],
    "sns": ["Publish"],
    "service-quotas": ["ListServiceQuotas", "ListAWSDefaultServiceQuotas"],
    "ecr": ["DescribeImages", "DescribeRegistry"],
}
KEPT = ("type", "enum", "pattern", "min", "max", "required", "union")


def reference(value):
    return value["shape"]


def shape_of(shape):
    kept = {key: shape[key] for key in KEPT if key in shape}
    headers = {
        member["locationName"].lower(): name
        for name, member in shape.get("members", {}).items()
        if member.get("location") == "header"
    }
    if headers:
        kept["headers"] = headers
    if "members" in shape:
        kept["members"] = {name: reference(member) for name, member in shape["members"].items()}
    if "member" in shape:
        kept["member"] = reference(shape["member"])
    if "key" in shape:
        kept["key"], kept["value"] = reference(shape["key"]), reference(shape["value"])
    return kept


def collect(shapes, name, found):
    if name in found:
        return
    found[name] = shape_of(shapes[name])
    children = [*found[name].get("members", {}).values()]
    children += [found[name][key] for key in ("member", "key", "value") if key in found[name]]
    for child in children:
        collect(shapes, child, found)


def extract():
    services = {}
    for service, operations in OPERATIONS.items():
        model = Loader().load_service_model(service, "service-2")
        found, inputs = {}, {}
        for operation in operations:
            inputs[operation] = model["operations"][operation]["input"]["shape"]
            collect(model["shapes"], inputs[operation], found)
        target = model["metadata"].get("targetPrefix")
        services[service] = {
            **({"target": target} if target else {}),
            "inputs": inputs,
            "shapes": dict(sorted(found.items())),
        }
    source = {"package": f"botocore {botocore.__version__}", "license": "Apache-2.0"}
    return {"source": source, "services": services}


if __name__ == "__main__":
    path = pathlib.Path(__file__).with_name("shapes.json")
    path.write_text(json.dumps(extract(), indent=1) + "\n")
